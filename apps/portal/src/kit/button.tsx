/** `<Button tone="primary" isBusy={...} onClick={...}>Save</Button>`: a busy one ignores clicks. */
import type { ComponentProps, ReactNode } from 'react';

interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  readonly tone?: 'plain' | 'primary' | 'danger';
  readonly isBusy?: boolean;
}

export function Button({ tone = 'plain', isBusy = false, type = 'button', onClick, ...rest }: ButtonProps): ReactNode {
  return (
    <button
      {...rest}
      type={type}
      className="button"
      data-tone={tone}
      aria-disabled={isBusy}
      onClick={(event) => (isBusy ? event.preventDefault() : onClick?.(event))}
    />
  );
}
