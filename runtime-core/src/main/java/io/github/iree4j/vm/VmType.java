package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The type of the elements of a list, or of a reference.
 *
 * @param kind the kind
 * @param name the name in type tables, without the leading {@code !}
 * @param refClass the Java type of references of {@link Kind#REF}; null for others
 */
@NotForApplications
public record VmType(Kind kind, String name, @Nullable Class<?> refClass) {
    /** Kinds of types. */
    public enum Kind {
        /** Any value or reference; each element has a separate kind. */
        ANY,
        /** 8-bit integer. */
        I8,
        /** 16-bit integer. */
        I16,
        /** 32-bit integer. */
        I32,
        /** 64-bit integer. */
        I64,
        /** 32-bit float. */
        F32,
        /** 64-bit float. */
        F64,
        /** Reference to an object of a given type. */
        REF
    }

    /** Any value or reference. */
    public static final VmType ANY = new VmType(Kind.ANY, "vm.opaque", null);
    /** 8-bit integers. */
    public static final VmType I8 = new VmType(Kind.I8, "i8", null);
    /** 16-bit integers. */
    public static final VmType I16 = new VmType(Kind.I16, "i16", null);
    /** 32-bit integers. */
    public static final VmType I32 = new VmType(Kind.I32, "i32", null);
    /** 64-bit integers. */
    public static final VmType I64 = new VmType(Kind.I64, "i64", null);
    /** 32-bit floats. */
    public static final VmType F32 = new VmType(Kind.F32, "f32", null);
    /** 64-bit floats. */
    public static final VmType F64 = new VmType(Kind.F64, "f64", null);

    /**
     * Checks that reference types have a class and others do not.
     *
     * @param kind the kind
     * @param name the name in type tables
     * @param refClass the Java type of references
     */
    public VmType {
        if ((kind == Kind.REF) != (refClass != null)) {
            throw new IllegalArgumentException("type '" + name + "' of kind " + kind + " with class " + refClass);
        }
    }

    /**
     * Creates a reference type.
     *
     * @param name the name in type tables, without the leading {@code !}
     * @param refClass the Java type of the objects
     * @return the type
     */
    public static VmType ref(String name, Class<?> refClass) {
        return new VmType(Kind.REF, name, Objects.requireNonNull(refClass));
    }

    /**
     * Returns whether a reference has this type: null, any object for {@link #ANY}, else an instance.
     *
     * @param object the object, or null
     * @return whether the type accepts the object
     */
    public boolean accepts(@Nullable Object object) {
        return object == null || kind == Kind.ANY || (refClass != null && refClass.isInstance(object));
    }

    /**
     * Returns whether this type is a number type.
     *
     * @return false for {@link #ANY} and references
     */
    public boolean isValue() {
        return kind != Kind.ANY && kind != Kind.REF;
    }

    @Override
    public String toString() {
        return kind == Kind.REF || kind == Kind.ANY ? "!" + name : name;
    }
}
