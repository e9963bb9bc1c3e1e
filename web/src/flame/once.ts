// Values that are computed when somebody asks for them, and then kept as long as what they are of.

/** `make`, called once for each `key`. */
export function once<K extends object, V extends object>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}
