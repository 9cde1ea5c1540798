// The API page, made from openapi.json and the messages' schemas: nothing is fetched from elsewhere.

import { find, forgetColours, make, theme } from "./dom.js";

document.documentElement.dataset.theme = theme();
forgetColours();

/** A schema's type in a few characters, with links to the shapes it names. */
function typeOf(schema) {
  if (!schema) return "";
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return make("a", { href: `#${name}` }, name);
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return join(schema.anyOf.map(typeOf), " | ");
  if (schema.prefixItems) return join(["[", join(schema.prefixItems.map(typeOf), ", "), "]"], "");
  if (schema.type === "array") return join(["[", typeOf(schema.items), ", …]"], "");
  const bounds = [
    ["≥ ", schema.minimum],
    ["≤ ", schema.maximum],
    ["< ", schema.exclusiveMaximum],
    ["length ≤ ", schema.maxLength],
  ];
  const limits = bounds.filter(([, value]) => value !== undefined).map(([sign, value]) => sign + value);
  return [schema.type ?? "any", ...limits].join(", ");
}

function join(parts, between) {
  const box = make("span");
  parts.forEach((part, index) => box.append(...(index && between ? [between] : []), part));
  return box;
}

function table(rows) {
  const head = make("tr", {}, ...["field", "type", "meaning"].map((word) => make("th", {}, word)));
  return make(
    "table",
    {},
    head,
    ...rows.map(([name, schema, note]) =>
      make(
        "tr",
        {},
        make("td", {}, make("code", {}, name)),
        make("td", {}, typeOf(schema)),
        make("td", {}, note ?? ""),
      ),
    ),
  );
}

const fields = (schema) =>
  table(Object.entries(schema.properties ?? {}).map(([name, field]) => [name, field, field.description]));

function operation(method, path, what) {
  const box = make(
    "details",
    {},
    make("summary", {}, make("b", {}, method.toUpperCase()), make("code", {}, path), ` – ${what.description ?? ""}`),
  );
  if (what.parameters?.length)
    box.append(table(what.parameters.map(({ name, schema, description, in: place }) => [name, schema, description ?? place])));
  const body = what.requestBody?.content["application/json"].schema;
  if (body) box.append(make("p", {}, "Body: ", typeOf(body)));
  const answers = Object.entries(what.responses).map(([status, answer]) => {
    const [[kind, { schema }]] = Object.entries(answer.content ?? { "no content": {} });
    return make(
      "tr",
      {},
      make("td", {}, status),
      make("td", {}, schema?.$ref || schema?.type ? typeOf(schema) : kind),
      make("td", {}, answer.description),
    );
  });
  box.append(
    make("table", {}, make("tr", {}, ...["status", "answer", ""].map((word) => make("th", {}, word))), ...answers),
  );
  return box;
}

const [api, messages] = await Promise.all(
  ["/openapi.json", "/api/messages"].map(async (path) => (await fetch(path)).json()),
);
find("description").textContent = `${api.info.title} ${api.info.version}. ${api.info.description}`.replaceAll("`", "");
for (const [path, methods] of Object.entries(api.paths))
  for (const [method, what] of Object.entries(methods)) find("operations").append(operation(method, path, what));
const named = { ...api.components.schemas };
for (const [type, schema] of Object.entries(messages)) {
  Object.assign(named, schema.$defs);
  find("messages").append(
    make("details", {}, make("summary", {}, make("b", {}, type), ` ${schema.description}`), fields(schema)),
  );
}
for (const [name, schema] of Object.entries(named).sort())
  if (schema.properties)
    find("schemas").append(
      make(
        "details",
        { id: name },
        make("summary", {}, make("b", {}, name), ` ${(schema.description ?? "").replaceAll("`", "")}`),
        fields(schema),
      ),
    );
addEventListener("hashchange", () => find(location.hash.slice(1))?.setAttribute("open", ""));
document.documentElement.dataset.ready = "yes";
