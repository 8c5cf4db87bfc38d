/**
 * Returns a function that creates one value for each object, at its first call with this object. The value
 * can be collected together with the object.
 */
export function perObject<Key extends WeakKey, Value extends object>(
  create: (key: Key) => Value,
): (key: Key) => Value {
  const values = new WeakMap<Key, Value>()
  return (key) => {
    const known = values.get(key)
    if (known) return known
    const value = create(key)
    values.set(key, value)
    return value
  }
}
