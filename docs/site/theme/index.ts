/** VitePress's own theme without its fonts, so that a page loads no more than it needs. */
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

export default DefaultTheme;
