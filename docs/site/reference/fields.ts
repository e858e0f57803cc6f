/** A schema as a table of its fields, at every depth: `data[].outcome.score`. */
import { type OpenApi, resolve, type Schema } from './document.ts';

interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/**
 * The table of the schema's fields: one per option if the schema is a choice, empty if it has no
 * fields.
 */
export function fieldTables(document: OpenApi, schema: Schema): string {
  const whole = flattened(document, schema);
  const choices = (whole.anyOf ?? whole.oneOf)?.map((choice) => flattened(document, choice)) ?? [];
  if (choices.length > 1) {
    const tables = choices.map((choice) => fieldTables(document, { ...whole, ...choice, anyOf: [], oneOf: [] }));
    const named = [...new Set(tables)].filter((table) => table !== '');
    if (named.length > 1)
      return named.map((table, index) => `${index === 0 ? 'One of these:' : 'Or:'}\n\n${table}`).join('\n');
  }
  const fields = fieldsBelow(document, whole, '');
  if (fields.length === 0) return '';
  const rows = fields.map(({ name, type, isRequired, description }) => {
    const presence = isRequired ? '' : ' <span class="optional">optional</span>';
    return `| \`${name}\`${presence} | ${cell(type)} | ${cell(description)} |`;
  });
  return `| Field | Type | Meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

/** `uuid or null`, `list of object`, `one of "paid", "held"`. */
export function typeName(document: OpenApi, given: Schema): string {
  const schema = flattened(document, given);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined && choices.length > 0) {
    return [...new Set(choices.map((choice) => typeName(document, choice)))].join(' or ');
  }
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  const types = [schema.type ?? 'any value'].flat();
  return types.map((type) => nameOfType(document, schema, type)).join(' or ');
}

function nameOfType(document: OpenApi, schema: Schema, type: string): string {
  if (type === 'array') return `list of ${typeName(document, schema.items ?? {})}`;
  const name = type === 'string' && schema.format !== undefined ? schema.format : type;
  const { minLength, maxLength, minimum, maximum } = schema;
  if (type === 'string' && schema.format === undefined && maxLength !== undefined) {
    return `${name} of ${minLength ?? 0} to ${maxLength} characters`;
  }
  if (minimum !== undefined && maximum !== undefined) return `${name} from ${minimum} to ${maximum}`;
  return minimum === undefined ? name : `${name} of at least ${minimum}`;
}

function fieldsBelow(document: OpenApi, given: Schema, prefix: string): readonly Field[] {
  const schema = flattened(document, given);
  const variants = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const required = new Set(schema.required ?? []);
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const name = `${prefix}${key}`;
    const field = flattened(document, value);
    return [
      {
        name,
        type: typeName(document, field),
        isRequired: required.has(key),
        description: value.description ?? field.description ?? '',
      },
      ...fieldsBelow(document, field, `${name}.`),
    ];
  });
  const items =
    schema.items === undefined ? [] : fieldsBelow(document, schema.items, `${prefix.replace(/\.$/, '')}[].`);
  const byName = new Map<string, Field>();
  for (const field of [...own, ...items, ...variants.flatMap((variant) => fieldsBelow(document, variant, prefix))]) {
    if (!byName.has(field.name)) byName.set(field.name, field);
  }
  return [...byName.values()];
}

/** The schema with its reference resolved and the members of its `allOf` merged. */
function flattened(document: OpenApi, given: Schema): Schema {
  const schema = resolve(document, given);
  const described = given.description === undefined ? schema : { ...schema, description: given.description };
  if (described.allOf === undefined) return described;
  const { allOf, ...own } = described;
  let merged: Schema = {};
  for (const part of [...allOf.map((one) => flattened(document, one)), own]) {
    const required = [...(merged.required ?? []), ...(part.required ?? [])];
    merged = { ...merged, ...part, properties: mergedProperties(merged, part), required };
  }
  return merged;
}

function mergedProperties(one: Schema, other: Schema): Readonly<Record<string, Schema>> {
  const merged: Record<string, Schema> = { ...one.properties };
  for (const [name, schema] of Object.entries(other.properties ?? {})) {
    const present = merged[name];
    merged[name] = present === undefined ? schema : { allOf: [present, schema] };
  }
  return merged;
}

/** Escapes text for a cell of a Markdown table. */
export function cell(text: string): string {
  return text
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replace(/\s*\n\s*/g, ' ');
}
