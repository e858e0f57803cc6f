/** The frame of a page: header, banner of the environment, side bar, page. */
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Environment } from '../api/api-types.ts';
import { Header } from './header.tsx';

interface Entry {
  readonly to: string;
  readonly label: string;
  /** The filters with which the page opens. */
  readonly search?: Readonly<Record<string, string>>;
}

interface ShellProps {
  /** Colours the frame; absent for a page that belongs to no environment. */
  readonly environment?: Environment;
  /** What the header shows between the name and the button to sign out. */
  readonly header: ReactNode;
  readonly banner?: ReactNode;
  /** The side bar; `params` fill the parts of an address that begin with `$`. */
  readonly navigation: readonly Entry[];
  readonly params?: Readonly<Record<string, string>>;
  readonly children: ReactNode;
}

export function Shell({ environment, header, banner, navigation, params = {}, children }: ShellProps): ReactNode {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const menu = (
    <button
      type="button"
      className="side-bar-button"
      aria-expanded={isMenuOpen}
      aria-controls="side-bar"
      onClick={() => setMenuOpen(!isMenuOpen)}
    >
      Menu
    </button>
  );
  return (
    <div className="shell" data-environment={environment}>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <Header menu={menu}>{header}</Header>
      {banner}
      <nav id="side-bar" className="side-bar" data-open={isMenuOpen} aria-label="Pages">
        <ul>
          {navigation.map(({ to, label, search = {} }) => (
            <li key={to}>
              <Link
                to={to as string}
                params={params}
                search={search}
                activeOptions={{ includeSearch: false }}
                onClick={() => setMenuOpen(false)}
              >
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" className="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
