/** The editor of a descriptor: says at once whether the text is JSON of an object. */
import type { ReactNode } from 'react';
import { TextField } from '../../kit/field.tsx';
import { checkDescriptor } from './json-check.ts';

interface DescriptorFieldProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
}

export function DescriptorField({ value, onChange }: DescriptorFieldProps): ReactNode {
  return (
    <TextField
      label="Descriptor"
      hint="How Laurel reads your bodies, at most 16 KiB. {} reads the canonical body."
      error={checkDescriptor(value).error}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      rows={12}
      spellCheck={false}
    />
  );
}
