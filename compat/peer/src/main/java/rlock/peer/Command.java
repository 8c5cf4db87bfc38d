package rlock.peer;

/** One line from the driver. */
record Command(Fields fields) {
    long id() {
        return fields.number("id", -1);
    }

    String thread() {
        return fields.text("thread", "main");
    }

    String op() {
        return fields.text("op", "");
    }

    boolean has(String field) {
        return fields.has(field);
    }

    String text(String field, String otherwise) {
        return fields.text(field, otherwise);
    }

    long number(String field, long otherwise) {
        return fields.number(field, otherwise);
    }

    long[] range(String field) {
        return fields.range(field);
    }

    String required(String field) {
        return fields.get(field).getAsString();
    }
}
