import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { defineConfig, type DefaultTheme } from "vitepress";

const repository = "https://github.com/slotmesh/slotmesh";

/** The address of the site below its host, such as /slotmesh/. */
const base = process.env.DOCS_BASE ?? "/";

/** The pages of each book, in the order of its index. A page that is missing there fails the build. */
const books: { title: string; folder: string; pages: string[] }[] =
  JSON.parse(readFileSync(join(import.meta.dirname, "..", "books.json"), "utf8"));

const source = (page: string) => join(import.meta.dirname, "..", page + ".md");

function titleOf(page: string): string {
  const heading = readFileSync(source(page), "utf8").match(/^# (.+)$/m);
  if (!heading) throw new Error(`${page}.md has no heading`);
  return heading[1];
}

/** The pages of a book. All of them must exist. */
function pagesOf(book: (typeof books)[number]): string[] {
  const pages = book.pages.map((name) => `${book.folder}/${name}`);
  const missing = pages.filter((page) => !existsSync(source(page)));
  if (missing.length > 0) throw new Error(`there is no page ${missing.join(", ")}: remove it from books.json`);
  return pages;
}

/** Each book has a sidebar of its own. The specification belongs to the book for developers. */
const sidebar: DefaultTheme.SidebarMulti = {};
for (const book of books) {
  const items = pagesOf(book).map((page) => ({ text: titleOf(page), link: "/" + page.replace(/index$/, "") }));
  sidebar[`/${book.folder}/`] = [{ text: book.title, link: `/${book.folder}/`, items }];
}
sidebar["/developers/"].push(...sidebar["/spec/"]);
sidebar["/spec/"] = sidebar["/developers/"];

/** Anchors as on GitHub, so that links work in both places (libs/testkit/markdown). */
const slugify = (heading: string) => heading.toLowerCase().replace(/[^\p{L}\p{Nd} _-]/gu, "").replaceAll(" ", "-");

export default defineConfig({
  title: "Slotmesh",
  description: "The documentation of Slotmesh, a booking platform for many businesses.",
  lang: "en",
  base,
  rewrites: { "spec/README.md": "spec/index.md" },
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    config(md) {
      // Links to files outside of docs lead to the repository.
      md.core.ruler.push("repository", (state) => {
        const folder = posix.dirname(state.env.relativePath ?? "");
        for (const token of state.tokens.flatMap((token) => token.children ?? [])) {
          const target = token.attrGet("href");
          if (token.type !== "link_open" || !target || /^([a-z]+:|#|\/)/.test(target)) continue;
          const path = posix.normalize(posix.join(folder, target));
          if (path.startsWith("../")) token.attrSet("href", `${repository}/blob/main/${path.slice(3)}`);
          else token.attrSet("href", target.replace("README.md", "index.md")); // the rewrite above
        }
      });
      // Vue must not read braces in texts and in indented code.
      for (const kind of ["text", "code_block"] as const) {
        const render = md.renderer.rules[kind]!;
        md.renderer.rules[kind] = (...args) => render(...args).replaceAll("{{", "&#123;&#123;");
      }
      // Placeholders such as <API_KEY> are texts, not elements.
      md.renderer.rules.html_inline = (tokens, i) => md.utils.escapeHtml(tokens[i].content);
    },
  },
  themeConfig: {
    search: { provider: "local" },
    nav: books.slice(0, 4).map((book) => ({ text: book.title, link: `/${book.folder}/`, activeMatch: `^/${book.folder}/` })),
    sidebar,
    outline: [2, 3],
    socialLinks: [{ icon: "github", link: repository }],
  },
  /** Also writes the pages as Markdown, and llms.txt, which lists them for programs. */
  buildEnd({ outDir, pages }) {
    const listed = books.flatMap((book) => [`${book.folder}/index`, ...pagesOf(book)]);
    const missing = pages.map((page) => page.replace(/\.md$/, "")).filter((page) =>
      page !== "index" && !/^api\/errors\/\w+$/.test(page) && page !== "spec/README" && !listed.includes(page));
    if (missing.length > 0) throw new Error(`no book lists ${missing.join(", ")}: add them to books.json`);
    for (const page of pages) {
      const target = join(outDir, page);
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(source(page.replace(/\.md$/, "")), target);
    }
    const lines = ["# Slotmesh", "", "> A booking platform for many businesses: appointments, classes, events and rentals.", ""];
    for (const book of books) {
      lines.push(`## ${book.title}`, "", ...pagesOf(book).map((page) => `- [${titleOf(page)}](${base}${page}.md)`), "");
    }
    writeFileSync(join(outDir, "llms.txt"), lines.join("\n"));
  },
});
