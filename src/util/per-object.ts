import { getOrCreate } from './get-or-create'

/**
 * Returns a function that creates one value for each object, at its first call with this object. The value
 * can be collected together with the object.
 */
export function perObject<Key extends WeakKey, Value extends object>(
  create: (key: Key) => Value,
): (key: Key) => Value {
  const values = new WeakMap<Key, Value>()
  return (key) => getOrCreate(values, key, create)
}
