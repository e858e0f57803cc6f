import type { ReactNode } from 'react';
import { SessionGate } from '../frame/session-gate.tsx';
import { PasswordForm } from './password-form.tsx';

export function Root(): ReactNode {
  return (
    <SessionGate
      audience="This page is for signed-in developers."
      signIn={(resume) => <PasswordForm onSignedIn={resume} />}
    />
  );
}
