/** zod with `.openapi()`: schemas of `/v1` are made with this one, so that the documents derive from them. */
import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';

extendZodWithOpenApi(z);

export { z };
