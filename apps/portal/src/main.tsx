// This import is before all others: it takes the token of a sign-in link out of the address.
import './api/sign-in-link.ts';
import { start } from './frame/start.tsx';
import { router } from './router.tsx';
import './styles/base.css';
import './styles/layout.css';
import './styles/kit.css';

start(router);
