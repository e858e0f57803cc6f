import type { ReactNode } from 'react';
import type { Credentials } from '../api/api-types.ts';
import { SignInForm } from '../frame/sign-in-form.tsx';
import { Field } from '../kit/field.tsx';

export function PasswordForm({ onSignedIn }: { readonly onSignedIn: () => void }): ReactNode {
  return (
    <SignInForm bodyOf={credentialsOf} wrong="The e-mail or the password is not right." onSignedIn={onSignedIn}>
      <Field label="E-mail" name="email" type="email" autoComplete="username" required />
      <Field label="Password" name="password" type="password" autoComplete="current-password" required />
    </SignInForm>
  );
}

function credentialsOf(form: FormData): Credentials {
  return { email: String(form.get('email')), password: String(form.get('password')) };
}
