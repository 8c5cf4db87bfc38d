package rlock.peer;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** A JSON object whose parts are mostly optional; null is the same as absent. */
final class Fields {
    private final JsonObject object;

    Fields(JsonElement json) {
        this.object = json.getAsJsonObject();
    }

    boolean has(String field) {
        return object.has(field) && !object.get(field).isJsonNull();
    }

    JsonElement get(String field) {
        if (!has(field)) {
            throw new IllegalArgumentException("\"" + field + "\" is missing in " + object);
        }
        return object.get(field);
    }

    String text(String field, String otherwise) {
        return has(field) ? get(field).getAsString() : otherwise;
    }

    long number(String field, long otherwise) {
        return has(field) ? get(field).getAsLong() : otherwise;
    }

    String[] texts(String field) {
        return elements(field).map(JsonElement::getAsString).toArray(String[]::new);
    }

    /** One number, or the two of a range. */
    long[] range(String field) {
        if (!has(field)) {
            return new long[] {0, 0};
        }
        return get(field).isJsonArray()
            ? elements(field).mapToLong(JsonElement::getAsLong).toArray()
            : new long[] {number(field, 0), number(field, 0)};
    }

    Fields object(String field) {
        return new Fields(get(field));
    }

    private Stream<JsonElement> elements(String field) {
        JsonArray array = get(field).getAsJsonArray();
        return StreamSupport.stream(array.spliterator(), false);
    }
}
