import type { ReactNode } from 'react';
import type { OperatorCredentials } from '../../api/api-types.ts';
import { SignInForm } from '../../frame/sign-in-form.tsx';
import { Field } from '../../kit/field.tsx';

export function TokenForm({ onSignedIn }: { readonly onSignedIn: () => void }): ReactNode {
  return (
    <SignInForm bodyOf={credentialsOf} wrong="No operator has this token." onSignedIn={onSignedIn}>
      <Field
        label="Operator token"
        hint="A token of OPERATOR_TOKEN or OPERATOR_TOKENS. The log of actions shows its holder’s name."
        name="token"
        type="password"
        autoComplete="current-password"
        required
      />
    </SignInForm>
  );
}

function credentialsOf(form: FormData): OperatorCredentials {
  return { token: String(form.get('token')).trim() };
}
