package rlock.peer;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
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

/** Lists the public methods of an interface, inherited ones included. */
final class Description {
    private Description() {
    }

    static List<Map<String, Object>> of(String interfaceName) throws ClassNotFoundException {
        return Arrays.stream(Class.forName(interfaceName).getMethods())
            .filter(method -> !Modifier.isStatic(method.getModifiers()))
            .sorted(Comparator.comparing(Method::getName).thenComparing(Method::toString))
            .map(Description::describe)
            .toList();
    }

    private static Map<String, Object> describe(Method method) {
        return Map.of(
            "name", method.getName(),
            "parameters", Arrays.stream(method.getGenericParameterTypes()).map(type -> type.getTypeName()).toList(),
            "returns", method.getGenericReturnType().getTypeName(),
            "declaredBy", method.getDeclaringClass().getName());
    }
}
