package rlock.peer;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

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
