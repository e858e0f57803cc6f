/** The bar at the top: the page's program or the operator's name, and the button to sign out. */
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useId } from 'react';
import { queryClient } from '../api/query-client.ts';
import { forgetSession } from '../api/session.ts';
import { useChange } from '../api/use-read.ts';
import { Button } from '../kit/button.tsx';

interface HeaderProps {
  /** The switches of a program, or the name of the operator. */
  readonly children?: ReactNode;
  /** The button that opens the side bar on a phone. */
  readonly menu?: ReactNode;
}

export function Header({ children, menu }: HeaderProps): ReactNode {
  const navigate = useNavigate();
  const signOut = useChange<undefined>('delete', '/session', []);
  const leave = async () => {
    await signOut.run();
    forgetSession();
    queryClient.clear();
    await navigate({ to: '/sign-in' });
  };
  return (
    <header className="header">
      {menu}
      <Link to="/programs" className="brand">
        Laurel
      </Link>
      {children}
      <Button isBusy={signOut.isRunning} onClick={() => void leave()}>
        Sign out
      </Button>
    </header>
  );
}

interface PopoverMenuProps {
  readonly label: string;
  /** What the button shows. */
  readonly current: string;
  /** Links; each closes the menu. */
  readonly children: ReactNode;
}

/** A button with a list of links, as a popover: Escape and a click elsewhere close it. */
export function PopoverMenu({ label, current, children }: PopoverMenuProps): ReactNode {
  const id = useId();
  return (
    <div className="menu">
      <button type="button" className="menu-button" popoverTarget={id} aria-label={`${label}: ${current}`}>
        {current}
      </button>
      <nav id={id} popover="auto" className="menu-list" aria-label={label}>
        {children}
      </nav>
    </div>
  );
}
