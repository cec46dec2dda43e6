#!/usr/bin/env python3
"""Tests scripts/generate_body.py: test_generate_body.py <vk.xml>

That the code is right is test_body's business; here it is which commands there are, and what must be refused.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "..", "..", "scripts")
REGISTRY = sys.argv.pop(1)
sys.dont_write_bytecode = True
sys.path.insert(0, SCRIPTS)
import generate  # noqa: E402

# Launches with pointers to pointers, and commands that return a result.
REFUSED = {"vkCmdCuLaunchKernelNVX", "vkCmdCudaLaunchKernelNV", "vkCmdSetPerformanceMarkerINTEL",
           "vkCmdSetPerformanceOverrideINTEL", "vkCmdSetPerformanceStreamMarkerINTEL"}

# A registry with one command, vkCmdMade, that has %s, and structures that it may name.
MADE = """<registry>
<types>
<type name="uint32_t"/>
<type name="void"/>
<type category="struct" name="VkFlat"><member><type>uint32_t</type> <name>a</name>[4]</member></type>
<type category="struct" name="VkNested"><member><type>VkFlat</type> <name>flat</name></member>
  <member>const <type>VkFlat</type>* <name>pFlat</name></member></type>
<type category="union" name="VkUnion"><member><type>uint32_t</type> <name>number</name></member>
  <member>const <type>VkFlat</type>* <name>pFlat</name></member></type>
<type category="struct" name="VkWithUnion"><member><type>VkUnion</type> <name>either</name></member></type>
<type category="struct" name="VkWithTwo"><member><type>VkNested</type> <name>two</name>[2]</member></type>
<type category="funcpointer">typedef void (*<name>PFN_vkMade</name>)(void);</type>
<type category="struct" name="VkWithFunction"><member><type>PFN_vkMade</type> <name>pfnMade</name></member></type>
<type category="struct" name="VkWithHandle"><member><type>void</type>* <name>window</name></member></type>
<type category="struct" name="VkForeign"><member><type>xcb_window_t</type> <name>window</name></member></type>
<type category="struct" name="VkWithPointers">
  <member len="count">const <type>VkFlat</type>* const* <name>ppFlat</name></member>
  <member><type>uint32_t</type> <name>count</name></member></type>
</types>
<commands><command renderpass="inside"><proto><type>%s</type> <name>vkCmdMade</name></proto>
<param><type>VkCommandBuffer</type> <name>commandBuffer</name></param>%s</command></commands>
<feature api="vulkan" number="1.0"><require><command name="vkCmdMade"/></require></feature>
</registry>
"""


def generate_body(registry):
    """(header, source)"""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-B", os.path.join(SCRIPTS, "generate_body.py"), "--registry", registry,
                        "--out", folder], check=True)
        texts = []
        for name in ("body_commands.h", "body_commands.c"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts.append(file.read())
        return texts


def made(params, result="void"):
    """The source of the made command's function."""
    with tempfile.NamedTemporaryFile("w", suffix=".xml", encoding="utf-8") as file:
        file.write(MADE % (result, params))
        file.flush()
        header, source = generate_body(file.name)
    function = re.search(r"^bool body_put_CmdMade\([^)]*\)\n\{\n.*?^\}", source, re.DOTALL | re.MULTILINE).group(0)
    refused = "    return true;" not in function
    if refused != ("Never encoded: vkCmdMade." in header):
        raise AssertionError("the header says otherwise")
    return "refused" if refused else function


def pointer(structure, attributes=""):
    return "<param %s>const <type>%s</type>* <name>pMade</name></param>" % (attributes, structure)


class GenerateBodyTest(unittest.TestCase):
    def test_every_command_inside_has_its_function(self):
        _, commands, names = generate.read_registry(REGISTRY)
        header, source = generate_body(REGISTRY)
        inside = {c.name for c in commands.values() if c.recorded and c.render_pass in ("inside", "both")
                  and names[c.name] == c.name}
        self.assertGreater(len(inside), 100)
        inside |= {"vkCmdBeginRenderPass", "vkCmdBeginRenderPass2", "vkCmdBeginRendering"}
        declared = re.findall(r"^(bool body_put_(\w+)\(.*\));$", header, re.MULTILINE)
        self.assertEqual({"vk" + name for _, name in declared}, inside)
        for declaration, _ in declared:
            self.assertIn("\n%s\n{\n" % declaration, source)

    def test_only_these_are_refused(self):
        header, _ = generate_body(REGISTRY)
        refused = set(re.search(r"Never encoded: ([\w, \n]+)\.", header).group(1).split(", "))
        self.assertLessEqual(refused, REFUSED)
        self.assertIn("vkCmdCuLaunchKernelNVX", refused)

    def test_templates_are_told_their_size(self):
        header, _ = generate_body(REGISTRY)
        told = re.findall(r"body_put_(\w+)\(.*size_t dataSize\);", header)
        self.assertEqual({n.removesuffix("KHR").rstrip("2") for n in told}, {"CmdPushDescriptorSetWithTemplate"})

    def test_what_is_understood(self):
        for params in ("", pointer("VkFlat"), pointer("VkNested"), pointer("VkFlat", 'optional="true"'),
                       '<param><type>uint32_t</type> <name>count</name></param>' + pointer("void", 'len="count"'),
                       '<param><type>uint32_t</type> <name>count</name></param>'
                       + pointer("VkNested", 'len="latexmath:[x]" altlen="(count + 31) / 32"')):
            self.assertNotEqual(made(params), "refused", params)

    def test_what_is_refused(self):
        for structure in ("VkWithUnion", "VkUnion", "VkWithTwo", "VkWithFunction", "VkWithHandle", "VkForeign",
                          "VkWithPointers", "void", "VkNeverDefined"):
            self.assertEqual(made(pointer(structure)), "refused", structure)
        self.assertEqual(made(pointer("VkFlat", 'len="latexmath:[x]"')), "refused")
        self.assertEqual(made(pointer("VkFlat", 'len="pElsewhere->count"')), "refused")
        self.assertEqual(made('<param><type>PFN_vkMade</type> <name>pfnMade</name></param>'), "refused")
        self.assertEqual(made("", "VkResult"), "refused")

    def test_null_is_refused_unless_it_is_optional(self):
        self.assertIn("if (!pMade)\n        return false;", made(pointer("VkFlat")))
        self.assertNotIn("if (!pMade)", made(pointer("VkFlat", 'optional="true"')))
        count = '<param><type>uint32_t</type> <name>count</name></param>'
        self.assertIn("if (count && !pMade)", made(count + pointer("VkFlat", 'len="count"')))
        self.assertIn("if (count && !pMade)", made(count + pointer("VkFlat", 'len="count" optional="false,true"')))
        self.assertNotIn("!pMade", made(count + pointer("VkFlat", 'len="count" noautovalidity="true"')))


if __name__ == "__main__":
    unittest.main()
