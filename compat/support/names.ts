/** Names that a naive pattern, slot or codec would trip over. */
export const NAMES = [
  'a:b:c',
  '{tag}:order',
  'order:{tag}',
  'a{b',
  'a}b',
  '{}x',
  'a{b}c}{d}',
  '🔒',
  'ключ é',
  'line\nbreak\r\n',
  ' ',
  '"quoted" \\ %s * ?[a]',
]
