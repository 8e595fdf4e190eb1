package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reference types by name, for the type tables of modules. Immutable; {@link #with} creates a larger set. */
@NotForApplications
public final class VmTypes {
    private static final VmTypes STANDARD = new VmTypes(Map.of("vm.buffer", VmBuffer.class, "vm.list", VmList.class));

    private final Map<String, Class<?>> classes;

    private VmTypes(Map<String, Class<?>> classes) {
        this.classes = classes;
    }

    /**
     * Returns the types of the virtual machine itself.
     *
     * @return {@code vm.buffer} and {@code vm.list}
     */
    public static VmTypes standard() {
        return STANDARD;
    }

    /**
     * Adds a type.
     *
     * @param name without the leading {@code !}, for example {@code hal.buffer}
     * @param type the Java type of the objects
     * @return these types and the new type
     */
    public VmTypes with(String name, Class<?> type) {
        Map<String, Class<?>> more = new HashMap<>(classes);
        Class<?> previous = more.put(name, type);
        if (previous != null && previous != type) {
            throw new IllegalArgumentException("type '" + name + "' is already " + previous.getName());
        }
        return new VmTypes(Map.copyOf(more));
    }

    /**
     * Finds a reference type.
     *
     * @param name without the leading {@code !}; any name that starts with {@code vm.list} is a list
     * @return the Java type, or null when unknown
     */
    public @Nullable Class<?> lookup(String name) {
        return classes.get(name.startsWith("vm.list") ? "vm.list" : name);
    }

    /**
     * Returns the known names.
     *
     * @return sorted, without the leading {@code !}
     */
    public Set<String> names() {
        return new TreeSet<>(classes.keySet());
    }

    /**
     * Resolves an entry of a type table.
     *
     * @param fullName {@code i8} to {@code f64}, {@code !vm.opaque} or {@code !name} of a reference type
     * @return the type, or null when the name is unknown
     */
    public @Nullable VmType resolve(String fullName) {
        switch (fullName) {
            case "i8":
                return VmType.I8;
            case "i16":
                return VmType.I16;
            case "i32":
                return VmType.I32;
            case "i64":
                return VmType.I64;
            case "f32":
                return VmType.F32;
            case "f64":
                return VmType.F64;
            case "!vm.opaque":
                return VmType.ANY;
            default:
                if (!fullName.startsWith("!")) {
                    return null;
                }
                String name = fullName.substring(1);
                Class<?> type = lookup(name);
                return type == null ? null : VmType.ref(name, type);
        }
    }

    /**
     * Names the type of an object, for messages.
     *
     * @param object the object, or null
     * @return the registered name, or else the class name
     */
    public static String nameOf(@Nullable Object object) {
        if (object == null) {
            return "null";
        }
        if (object instanceof VmBuffer) {
            return "!vm.buffer";
        }
        if (object instanceof VmList) {
            return "!vm.list";
        }
        return object.getClass().getSimpleName();
    }
}
