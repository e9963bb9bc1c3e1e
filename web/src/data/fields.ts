// Reads fields of untrusted JSON by name and type, and notes what does not fit instead of failing.
//
// A damaged or newer file thus loses the field, not the page: the notes are shown to the reader.

export class Notes {
  readonly list: string[] = [];
  add(note: string): void {
    // A file with a thousand bad rows says so ten times, not a thousand.
    if (this.list.length < 10) this.list.push(note);
  }
}

export class Fields {
  private constructor(
    private readonly value: Record<string, unknown>,
    private readonly path: string,
    private readonly notes: Notes,
  ) {}

  static of(value: unknown, path: string, notes: Notes): Fields {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return new Fields(value as Record<string, unknown>, path, notes);
    }
    notes.add(`${path} is not an object`);
    return new Fields({}, path, notes);
  }

  private read<T>(name: string, what: string, fits: (value: unknown) => value is T): T | null {
    const value = Object.hasOwn(this.value, name) ? this.value[name] : undefined;
    if (value === undefined || value === null) return null;
    if (fits(value)) return value;
    this.notes.add(`${this.path}.${name} is not ${what}`);
    return null;
  }

  text(name: string): string {
    return this.read(name, "text", (v) => typeof v === "string") ?? "";
  }

  number(name: string): number | null {
    return this.read(name, "a number", (v): v is number => typeof v === "number");
  }

  flag(name: string): boolean | null {
    return this.read(name, "true or false", (v) => typeof v === "boolean");
  }

  /** What kind of value is under `name`, for fields that come in two forms. */
  shape(name: string): "object" | "other" {
    const value = Object.hasOwn(this.value, name) ? this.value[name] : undefined;
    return typeof value === "object" && value !== null ? "object" : "other";
  }

  texts(name: string): string[] {
    const list = this.read(name, "a list", (v): v is unknown[] => Array.isArray(v)) ?? [];
    return list.filter((item): item is string => {
      if (typeof item === "string") return true;
      this.notes.add(`${this.path}.${name} holds something that is not text`);
      return false;
    });
  }

  rows<T>(name: string, read: (row: Fields) => T): T[] {
    const list = this.read(name, "a list", (v): v is unknown[] => Array.isArray(v)) ?? [];
    return list.map((item, i) => read(Fields.of(item, `${this.path}.${name}[${i}]`, this.notes)));
  }

  /** The object under `name`, or null when it is missing or null. */
  object(name: string): Fields | null {
    const value = Object.hasOwn(this.value, name) ? this.value[name] : undefined;
    if (value === undefined || value === null) return null;
    return Fields.of(value, `${this.path}.${name}`, this.notes);
  }

  counts(name: string): [string, number][] {
    const inner = this.object(name);
    if (inner === null) return [];
    return Object.keys(inner.value).map((key) => [key, inner.number(key) ?? 0]);
  }
}
