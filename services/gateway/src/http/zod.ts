/**
 * zod with `.openapi()`. Schemas of `/v1` use this import, so that the documents derive from them.
 */
import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi';
import { validationMessage } from '@laurel/errors';
import { z } from 'zod';

extendZodWithOpenApi(z);
// Applies to every schema of the process, those of `/api` included.
z.config({ customError: validationMessage });

export { z };

/**
 * The schema of a route's parameters as an object schema. Parameters have names, so any other kind
 * of schema is a bug.
 */
export function objectOf(schema: z.ZodType): z.ZodObject {
  if (!(schema instanceof z.ZodObject)) throw new Error('the parameters of a route must be an object schema');
  return schema;
}
