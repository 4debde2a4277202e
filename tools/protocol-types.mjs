// Reads the frames of workers from their types: what is declared is what the page shows.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/**
 * The declarations that a file and what it imports from its neighbours make, by name.
 *
 * @param {string} file absolute
 * @returns {Map<string, ts.InterfaceDeclaration | ts.TypeAliasDeclaration>}
 */
export function declarationsOf(file, found = new Map(), read = new Set()) {
  if (read.has(file)) return found;
  read.add(file);
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  for (const statement of source.statements) {
    if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
      found.set(statement.name.text, statement);
    } else if (ts.isImportDeclaration(statement) && statement.moduleSpecifier.text.startsWith('.')) {
      declarationsOf(join(dirname(file), `${statement.moduleSpecifier.text}.ts`), found, read);
    }
  }
  return found;
}

/** The names of the interfaces of a union, unions within it opened. */
export function namesOfUnion(declarations, name) {
  const { type } = declared(declarations, name);
  return (ts.isUnionTypeNode(type) ? [...type.types] : [type]).flatMap((part) => {
    const inner = part.getText();
    return ts.isTypeAliasDeclaration(declared(declarations, inner)) ? namesOfUnion(declarations, inner) : [inner];
  });
}

/** The fields of an interface, those it inherits first: `{name, type, optional, doc, node}`; of objects in place their fields as well. */
export function fieldsOf(declarations, name) {
  const declaration = declared(declarations, name);
  const inherited = (declaration.heritageClauses ?? []).flatMap((clause) =>
    clause.types.flatMap((type) => fieldsOf(declarations, type.expression.getText())),
  );
  return [...inherited, ...membersOf(declaration.members, '')];
}

function membersOf(members, prefix) {
  return members.filter(ts.isPropertySignature).flatMap((member) => {
    const name = prefix + member.name.getText();
    const field = {
      name,
      type: typeText(member.type),
      optional: member.questionToken !== undefined,
      doc: docOf(member),
      node: member.type,
    };
    const { literal, suffix } = objectIn(member.type);
    if (!literal) return [field];
    return [{ ...field, type: `object${suffix}` }, ...membersOf(literal.members, `${name}${suffix}.`)];
  });
}

/** The object that is written in place, itself or as an item of a list. */
function objectIn(node, suffix = '') {
  if (ts.isTypeOperatorNode(node)) return objectIn(node.type, suffix);
  if (ts.isArrayTypeNode(node)) return objectIn(node.elementType, `${suffix}[]`);
  return { literal: ts.isTypeLiteralNode(node) ? node : null, suffix };
}

/** A type without what only the compiler needs. */
export function typeText(node) {
  return node
    .getText()
    .replace(/\/\*\*.*?\*\//gs, '')
    .replace(/\breadonly /g, '')
    .replace(/Readonly<Record<string, unknown>>|\bJson\b/g, 'object')
    .replace(/Readonly<(Record<string, [^<>]+>)>/g, '$1')
    .replace(/\s+/g, ' ')
    .replace(/^\| /, '')
    .replace(/; }/g, ' }')
    .trim();
}

/** What the comment before a declaration says, on one line. */
export function docOf(node) {
  const comments = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  return comments
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** What a union is made of, each with the comment before it: `{text, literal, doc}`. */
export function partsOf(type) {
  let end = type.getFullStart();
  return (ts.isUnionTypeNode(type) ? type.types : [type]).map((part) => {
    const before = type.getSourceFile().text.slice(end, part.getStart());
    end = part.getEnd();
    const doc = /\/\*\*(.*?)\*\//s.exec(before)?.[1] ?? '';
    return { text: typeText(part), literal: ts.isLiteralTypeNode(part), doc: doc.replace(/\s+/g, ' ').trim() };
  });
}

/** The names of declared types that a type mentions. */
export function mentionedIn(declarations, node) {
  const names = new Set();
  const visit = (part) => {
    if (ts.isTypeReferenceNode(part) && declarations.has(part.typeName.getText())) names.add(part.typeName.getText());
    ts.forEachChild(part, visit);
  };
  visit(node);
  return [...names];
}

/** The members of a constant object with their comments: `{name, value, doc}`. */
export function constantMembers(file, name) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const declarations = source.statements
    .filter(ts.isVariableStatement)
    .flatMap((one) => [...one.declarationList.declarations]);
  const { initializer } = declarations.find((one) => one.name.getText() === name);
  return initializer.expression.properties.map((property) => ({
    name: property.name.getText(),
    value: property.initializer.getText(),
    doc: docOf(property),
  }));
}

function declared(declarations, name) {
  const declaration = declarations.get(name);
  if (!declaration) throw new Error(`The type ${name} is declared nowhere that the frames import`);
  return declaration;
}
