import '../styles/base.css';
import '../styles/layout.css';
import '../styles/kit.css';
import './operator.css';
import { start } from '../frame/start.tsx';
import { router } from './router.tsx';

start(router);
