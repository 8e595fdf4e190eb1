package io.github.iree4j.module;

import io.github.iree4j.module.ImportedInterface.Imported;
import io.github.iree4j.vm.CallingConvention;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.VmDependency;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmImport;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.VmModuleState;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A module implemented by a Java class. Add the module to a program before the importing modules.
 *
 * <pre>{@code
 * @IreeModule("custom")
 * final class Strings {
 *     @ReferenceType("custom.string")
 *     record Text(String value) {}
 *
 *     @Export("string.create") Text create(String bytes) { return new Text(bytes); }
 *     @Export("string.length") long length(Text text) { return text.value().length(); }
 * }
 * ...
 * runtime.load(ProgramOptions.builder().module(JavaModule.of(new Strings())).module(file).build());
 * }</pre>
 *
 * <p><b>Types.</b> {@code int}, {@code short}, {@code byte} and {@code boolean} are i32, {@code long} i64,
 * {@code float} f32, {@code double} f64. Everything else is a reference: {@code String} (UTF-8) and {@code byte[]} copy
 * a {@code !vm.buffer}, {@code MemorySegment} is a view of a {@code !vm.buffer}, {@code List} copies a {@code !vm.list}
 * with all elements (numbers boxed), and in programs {@code Tensor} stands for {@code !hal.buffer_view}; all other
 * objects, such as buffers, buffer views, fences and objects of your own classes, are passed unchanged. An array other
 * than {@code byte[]} is a variadic argument, an array of records a variadic argument of tuples. A returned record is
 * several results, {@code void} none. If a method returns a future, the call waits for completion without occupying a
 * thread. A class with {@link ReferenceType} is always a single reference. Parameters accepting null need an annotation
 * called {@code Nullable}.
 *
 * <p><b>Ownership.</b> Arguments, and results of called functions, are borrowed until the method returns, or the
 * returned future completes; retain every object kept longer. Borrowed references may be returned unchanged; returning
 * any other counted object, also as an element of a list, transfers ownership. Tensor arguments are closed when the
 * method returns; returned tensors belong to the program.
 *
 * <p><b>State.</b> {@link #of(Class, Supplier)} creates an object for each context (each loaded program). Calls use the
 * object one at a time; an {@link AutoCloseable} object is closed with the context. With {@link #of(Object)} all
 * contexts share an object; the object must be safe from any thread and remains owned by the caller.
 *
 * <p><b>Calling programs.</b> A parameter typed as an interface with {@link Import} methods is not an argument: the
 * parameter calls other functions of the same context, while the method runs and on the method's thread. Functions of
 * modules before this module are linked as for any module, others are {@linkplain Import#late late}.
 *
 * <p><b>Failures.</b> An exception fails the call with a status naming function and method, and with the exception as
 * cause: an {@link io.github.iree4j.status.IreeException} with the exception's own code,
 * {@code IllegalArgumentException} INVALID_ARGUMENT, {@code IndexOutOfBoundsException} OUT_OF_RANGE,
 * {@code IllegalStateException} FAILED_PRECONDITION, {@code UnsupportedOperationException} UNIMPLEMENTED,
 * {@code NoSuchElementException} NOT_FOUND, {@code TimeoutException} DEADLINE_EXCEEDED, {@code InterruptedException}
 * CANCELLED, anything else INTERNAL.
 *
 * <p>Immutable; may be in several programs.
 */
public final class JavaModule implements VmModule {
    private final Class<?> type;
    private final Supplier<?> instances;
    private final boolean shared;
    private final References references;
    private final String name;
    private final int version;
    private final List<JavaFunction> functions = new ArrayList<>();
    private final List<VmFunction> exports = new ArrayList<>();
    private final List<ImportedInterface> interfaces = new ArrayList<>();
    private final List<VmImport> imports = new ArrayList<>();
    private final Map<String, Class<?>> referenceTypes = new LinkedHashMap<>();

    private JavaModule(Class<?> type, Supplier<?> instances, boolean shared, References references) {
        this.type = type;
        this.instances = instances;
        this.shared = shared;
        this.references = references;
        IreeModule declared = declaration(type);
        name = declared.value();
        version = declared.version();
        if (name.isEmpty() || name.indexOf('.') >= 0) {
            throw new IllegalArgumentException(
                    "module name '%s' of '%s' must not be empty or have a dot".formatted(name, type.getName()));
        }
        Reader reader = new Reader();
        for (Method method : exportedMethods(type)) {
            add(reader, method);
        }
        for (ImportedInterface each : interfaces) {
            for (Imported imported : each.methods()) {
                if (!imported.late()) {
                    imports.add(new VmImport(
                            imported.fullName(), imported.convention().text(), !imported.optional()));
                }
            }
        }
    }

    /**
     * Creates a module of an object, shared by all contexts.
     *
     * @param instance the object, with {@link IreeModule} on the class or a superclass; must be safe from any thread;
     *     remains owned by the caller
     * @return the module
     * @throws IllegalArgumentException when the class is not annotated, or a method cannot be a function of programs
     */
    public static JavaModule of(Object instance) {
        return new JavaModule(instance.getClass(), () -> instance, true, References.standard());
    }

    /**
     * Creates a module of an object shared by all contexts and obtained when the first program with the module is
     * loaded.
     *
     * @param type the object's class, with {@link IreeModule} on the class or a superclass
     * @param instance returns the object, the same each time; must be safe from any thread; remains owned by the caller
     * @param <T> the class
     * @return the module
     * @throws IllegalArgumentException when the class is not annotated, or a method cannot be a function of programs
     */
    public static <T> JavaModule shared(Class<T> type, Supplier<? extends T> instance) {
        return new JavaModule(type, instance, true, References.standard());
    }

    /**
     * Creates a module of a class, with an object for each context.
     *
     * @param type the class, with {@link IreeModule} on the class or a superclass
     * @param instances creates an object, closed with the object's context if {@link AutoCloseable}
     * @param <T> the class
     * @return the module
     * @throws IllegalArgumentException when the class is not annotated, or a method cannot be a function of programs
     */
    public static <T> JavaModule of(Class<T> type, Supplier<? extends T> instances) {
        return new JavaModule(type, instances, false, References.standard());
    }

    /**
     * Returns this module with another adapter for a type.
     *
     * @param javaType a type of parameters, results and list elements, not including subtypes
     * @param adapter converts references to the type and back
     * @param <T> the type
     * @return the new module
     */
    public <T> JavaModule with(Class<T> javaType, ReferenceAdapter<T> adapter) {
        return new JavaModule(type, instances, shared, references.with(javaType, adapter));
    }

    private static IreeModule declaration(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            IreeModule declared = each.getAnnotation(IreeModule.class);
            if (declared != null) {
                return declared;
            }
        }
        throw new IllegalArgumentException("'%s' is not annotated @IreeModule".formatted(type.getName()));
    }

    /** The exported methods, including inherited methods unless overridden, in a stable order. */
    private static List<Method> exportedMethods(Class<?> type) {
        Map<String, Method> found = new LinkedHashMap<>();
        Set<String> overridden = new LinkedHashSet<>();
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Method method : each.getDeclaredMethods()) {
                String signature = method.getName() + Arrays.toString(method.getParameterTypes());
                if (method.isAnnotationPresent(Export.class) && !method.isBridge()) {
                    if (overridden.add(signature) || Modifier.isPrivate(method.getModifiers())) {
                        found.put(each.getName() + "." + signature, method);
                    }
                }
            }
        }
        if (found.isEmpty()) {
            throw new IllegalArgumentException("'%s' has no method annotated @Export".formatted(type.getName()));
        }
        return found.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(Map.Entry::getValue)
                .toList();
    }

    private void add(Reader reader, Method method) {
        String given = method.getAnnotation(Export.class).value();
        String exported = given.isEmpty() ? method.getName() : given;
        JavaFunction function = JavaFunction.of(reader, method, exported, name + "." + exported);
        for (JavaFunction other : functions) {
            String duplicate = function.duplicateOf(other);
            if (duplicate != null) {
                throw new IllegalArgumentException("function '%s' with convention '%s' is declared twice: %s and %s"
                        .formatted(function, function.convention(), duplicate, function.method()));
            }
        }
        exports.add(new VmFunction(this, functions.size(), exported, function.convention(), function.attributes()));
        functions.add(function);
    }

    private final class Reader implements JavaFunction.Builder {
        @Override
        public References references() {
            return references;
        }

        @Override
        public void seen(Type seen) {
            if (seen instanceof ParameterizedType parameterized) {
                for (Type argument : parameterized.getActualTypeArguments()) {
                    seen(argument);
                }
                seen(parameterized.getRawType());
            } else if (seen instanceof Class<?> c && c.isAnnotationPresent(ReferenceType.class)) {
                String typeName = c.getAnnotation(ReferenceType.class).value();
                Class<?> previous = referenceTypes.put(typeName, c);
                if (previous != null && previous != c) {
                    throw new IllegalArgumentException("reference type '%s' is both '%s' and '%s'"
                            .formatted(typeName, previous.getName(), c.getName()));
                }
            }
        }

        @Override
        public int imports(Class<?> imported) {
            for (int i = 0; i < interfaces.size(); i++) {
                if (interfaces.get(i).type() == imported) {
                    return i;
                }
            }
            interfaces.add(new ImportedInterface(imported, references, this::seen));
            return interfaces.size() - 1;
        }
    }

    List<ImportedInterface> interfaces() {
        return interfaces;
    }

    JavaFunction function(VmFunction export) {
        return functions.get(export.ordinal());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int version() {
        return version;
    }

    @Override
    public Map<String, String> attributes() {
        return Map.of();
    }

    @Override
    public List<VmDependency> dependencies() {
        return List.of();
    }

    @Override
    public List<VmImport> imports() {
        return Collections.unmodifiableList(imports);
    }

    @Override
    public List<VmFunction> exports() {
        return Collections.unmodifiableList(exports);
    }

    @Override
    public Map<String, Class<?>> referenceTypes() {
        return Collections.unmodifiableMap(referenceTypes);
    }

    @Override
    public @Nullable VmFunction resolve(String functionName, String callingConvention) {
        CallingConvention wanted = callingConvention.isEmpty() ? null : CallingConvention.parse(callingConvention);
        for (VmFunction export : exports) {
            if (export.name().equals(functionName)
                    && (wanted == null || export.convention().matches(wanted))) {
                return export;
            }
        }
        return null;
    }

    @Override
    public VmModuleState createState(ContextOptions options) {
        return new JavaState(this, instances.get(), !shared);
    }

    @Override
    public String toString() {
        return name;
    }
}
