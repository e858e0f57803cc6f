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
