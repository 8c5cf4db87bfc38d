import type { Subject } from '../subjects/catalogue'

/** GitHub shows a page in either; each chart is drawn for both. */
export interface Theme {
  readonly name: 'light' | 'dark'
  readonly background: string
  readonly text: string
  readonly faint: string
  readonly trouble: string
  /** The colour of a bar or line, by what the subject is. */
  readonly bars: Readonly<Record<Subject['kind'], string>>
  /** Where several lines must be distinguished. */
  readonly lines: readonly string[]
}

export const THEMES: readonly Theme[] = [
  {
    name: 'light',
    background: '#ffffff',
    text: '#1f2328',
    faint: '#d1d9e0',
    trouble: '#cf222e',
    bars: { this: '#0969da', peer: '#8c959f', baseline: '#c3cad1', limit: '#1f2328' },
    lines: ['#0969da', '#bc4c00', '#8250df', '#1a7f37', '#bf3989', '#9a6700', '#57606a', '#8c959f'],
  },
  {
    name: 'dark',
    background: '#0d1117',
    text: '#e6edf3',
    faint: '#3d444d',
    trouble: '#ff7b72',
    bars: { this: '#4493f8', peer: '#848d97', baseline: '#545d68', limit: '#e6edf3' },
    lines: ['#4493f8', '#f0883e', '#ab7df8', '#3fb950', '#db61a2', '#d29922', '#9198a1', '#656c76'],
  },
]

export const FONT = 'system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif'
