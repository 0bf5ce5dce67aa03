// Cells and files of csv, saved without any request.
// Text that begins like a formula gets an apostrophe, by the rule of tables/formulas.py: the
// command line removes it again when it reads the answers.
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const SIGNED = /^'*[+-]([0-9]+([.,][0-9]+)*|[.,][0-9]+)([eE][+-]?[0-9]+)?%?$/;
const csvCell = (value) => {
  let text = String(value);
  if (typeof value === "string" && FORMULA.test(text) && !SIGNED.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const download = (what, ...parts) => {
  const link = element("a", { download: `${[...data.file.replace(/\.[^.]*$/, "")].slice(0, 80).join("")}-${what}.csv`, href: URL.createObjectURL(new Blob(parts, { type: "text/csv" })) });
  link.click();
  // Later, because some browsers start the download only after this function has returned.
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
