interface MapLike<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): unknown
}

/** The value of this key; without any, the one that `create` returns, which is kept. */
export function getOrCreate<Key, Value extends object>(
  map: MapLike<Key, Value>,
  key: Key,
  create: (key: Key) => Value,
): Value {
  const known = map.get(key)
  if (known) return known
  const value = create(key)
  map.set(key, value)
  return value
}
