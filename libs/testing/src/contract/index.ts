export { dereferenced } from './dereferenced.ts';
export {
  type Contract,
  createContract,
  loadContract,
  openDocuments,
  type RouteCode,
  type RouteStatus,
} from './openapi.ts';
