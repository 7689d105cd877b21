// SPDX-License-Identifier: MIT
// bundle.mjs - page.html of template.html, page.js and the packages that it uses, with their licences. See scripts/bundle-page.
import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const { outputFiles, metafile } = await build({
  entryPoints: ["page.js"], bundle: true, minify: true, write: false, metafile: true, format: "iife",
  charset: "ascii", legalComments: "inline", target: "es2021",
});
const packages = [...new Set(Object.keys(metafile.inputs).map(file => file.match(/^node_modules\/([^/]+)\//)?.[1]))]
  .filter(Boolean).sort();
const licences = packages.map(name => {
  const file = readdirSync(`node_modules/${name}`).find(f => /^licen[cs]e/i.test(f));
  return `${name}\n\n${readFileSync(`node_modules/${name}/${file}`, "utf8").trim()}`;
});
const program = outputFiles[0].text.trim().replaceAll("</script", "<\\/script");
const page = readFileSync("template.html", "utf8")
  .replace("<!DOCTYPE html>", () => `<!DOCTYPE html>\n<!--\nMade by scripts/bundle-page: ibtool's page (MIT), and in it\n\n${licences.join("\n\n")}\n-->`)
  .replace("<!--PROGRAM-->", () => `<script>${program}</script>`);
writeFileSync("page.html", page);
