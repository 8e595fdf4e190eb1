package io.github.iree4j.module;

import static java.lang.classfile.ClassFile.ACC_FINAL;
import static java.lang.classfile.ClassFile.ACC_PRIVATE;
import static java.lang.classfile.ClassFile.ACC_PUBLIC;
import static java.lang.classfile.ClassFile.ACC_SUPER;

import io.github.iree4j.api.NotForApplications;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Implements an interface by method handles: a hidden class per interface, with fields for each object's handles.
 *
 * <p>Implements the abstract methods and the methods annotated {@link Import}. Immutable and safe from any thread.
 *
 * @param <T> the interface
 */
@NotForApplications
public final class FunctionInterface<T> {
    private static final ClassDesc HANDLE =
            MethodHandle.class.describeConstable().orElseThrow();
    private static final ClassDesc HANDLES = HANDLE.arrayType();
    private static final MethodTypeDesc CONSTRUCTOR = MethodTypeDesc.of(ConstantDescs.CD_void, HANDLES);

    private final Class<T> type;
    private final List<Method> methods;
    private final MethodHandle constructor;

    private FunctionInterface(Class<T> type) {
        this.type = type;
        if (!type.isInterface() || type.isSealed() || type.isHidden() || type.isAnnotation()) {
            throw new IllegalArgumentException(
                    "'%s' is not an interface that can be implemented".formatted(type.getName()));
        }
        methods = Arrays.stream(type.getMethods())
                .filter(m -> Modifier.isAbstract(m.getModifiers()) || m.isAnnotationPresent(Import.class))
                .filter(m -> !Modifier.isStatic(m.getModifiers()))
                .sorted(Comparator.comparing(Method::getName).thenComparing(Method::toGenericString))
                .toList();
        MethodHandles.Lookup lookup = Handles.lookup(type);
        try {
            MethodHandles.Lookup hidden = lookup.defineHiddenClass(generate(), true);
            constructor = hidden.findConstructor(
                            hidden.lookupClass(), MethodType.methodType(void.class, MethodHandle[].class))
                    .asType(MethodType.methodType(Object.class, MethodHandle[].class));
        } catch (IllegalAccessException | NoSuchMethodException e) {
            throw new IllegalArgumentException("'%s' cannot be implemented: %s".formatted(type.getName(), e), e);
        }
    }

    /**
     * Prepares an interface.
     *
     * @param type the interface, of any visibility, in a package open to this module
     * @param <T> the interface
     * @return a factory of implementations
     * @throws IllegalArgumentException when the interface cannot be implemented or accessed
     */
    public static <T> FunctionInterface<T> of(Class<T> type) {
        return new FunctionInterface<>(type);
    }

    /**
     * Returns the interface.
     *
     * @return the interface
     */
    public Class<T> type() {
        return type;
    }

    /**
     * Returns the methods requiring handles.
     *
     * @return the methods, sorted by name
     */
    public List<Method> methods() {
        return methods;
    }

    /** Provides the handles for an object's methods. */
    @FunctionalInterface
    public interface Binding {
        /**
         * Returns the implementation of a method.
         *
         * @param method an element of {@link FunctionInterface#methods()}
         * @return a handle of the method's type, without the receiver; null to run a default method's own body
         */
        @Nullable
        MethodHandle handle(Method method);
    }

    /**
     * Creates an object.
     *
     * @param binding provides the handles; called once for each method
     * @return the object
     */
    public T implement(Binding binding) {
        List<@Nullable MethodHandle> handles = new ArrayList<>();
        for (Method method : methods) {
            MethodHandle handle = binding.handle(method);
            if (handle == null && !method.isDefault()) {
                throw new IllegalArgumentException(
                        "'%s' has neither a handle nor a body".formatted(Handles.text(method)));
            }
            handles.add(
                    handle == null
                            ? null
                            : handle.asType(MethodType.methodType(method.getReturnType(), method.getParameterTypes())));
        }
        try {
            return type.cast((Object) constructor.invokeExact(handles.toArray(MethodHandle[]::new)));
        } catch (Throwable e) {
            throw new AssertionError(e); // the constructor only stores its arguments
        }
    }

    private byte[] generate() {
        ClassDesc self = ClassDesc.of(type.getPackageName(), type.getSimpleName() + "Functions");
        ClassDesc parent = type.describeConstable().orElseThrow();
        return ClassFile.of().build(self, builder -> {
            builder.withFlags(ACC_FINAL | ACC_SUPER).withInterfaceSymbols(parent);
            for (int i = 0; i < methods.size(); i++) {
                builder.withField("handle" + i, HANDLE, ACC_PRIVATE | ACC_FINAL);
            }
            builder.withMethodBody(ConstantDescs.INIT_NAME, CONSTRUCTOR, ACC_PRIVATE, code -> construct(code, self));
            for (int i = 0; i < methods.size(); i++) {
                Method method = methods.get(i);
                String field = "handle" + i;
                MethodTypeDesc descriptor = MethodType.methodType(method.getReturnType(), method.getParameterTypes())
                        .describeConstable()
                        .orElseThrow();
                builder.withMethodBody(
                        method.getName(), descriptor, ACC_PUBLIC, code -> call(code, self, field, method, descriptor));
            }
        });
    }

    private void construct(CodeBuilder code, ClassDesc self) {
        code.aload(0).invokespecial(ConstantDescs.CD_Object, ConstantDescs.INIT_NAME, ConstantDescs.MTD_void);
        for (int i = 0; i < methods.size(); i++) {
            code.aload(0).aload(1).loadConstant(i).aaload().putfield(self, "handle" + i, HANDLE);
        }
        code.return_();
    }

    private void call(CodeBuilder code, ClassDesc self, String field, Method method, MethodTypeDesc descriptor) {
        if (method.isDefault()) {
            Label bound = code.newLabel();
            code.aload(0).getfield(self, field, HANDLE).ifnonnull(bound);
            code.aload(0);
            loadArguments(code, descriptor);
            // Name the given interface: the body may be inherited from an indirect parent.
            code.invokespecial(type.describeConstable().orElseThrow(), method.getName(), descriptor, true);
            code.return_(TypeKind.from(descriptor.returnType()));
            code.labelBinding(bound);
        }
        code.aload(0).getfield(self, field, HANDLE);
        loadArguments(code, descriptor);
        code.invokevirtual(HANDLE, "invokeExact", descriptor);
        code.return_(TypeKind.from(descriptor.returnType()));
    }

    private static void loadArguments(CodeBuilder code, MethodTypeDesc descriptor) {
        for (int i = 0; i < descriptor.parameterCount(); i++) {
            code.loadLocal(TypeKind.from(descriptor.parameterType(i)), code.parameterSlot(i));
        }
    }
}
