package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import java.util.Map;

/** A function exported by a module. Immutable. */
@NotForApplications
public final class VmFunction {
    /** Attribute with the signature in the source language. */
    public static final String DECLARATION = "iree.abi.declaration";

    private final VmModule module;
    private final int ordinal;
    private final String name;
    private final CallingConvention convention;
    private final Map<String, String> attributes;

    /**
     * Describes an export; for implementations of {@link VmModule}.
     *
     * @param module the exporting module
     * @param ordinal the number in the module
     * @param name the name within the module
     * @param convention the calling convention
     * @param attributes reflection attributes, for example {@code iree.abi.declaration}; copied
     */
    public VmFunction(
            VmModule module, int ordinal, String name, CallingConvention convention, Map<String, String> attributes) {
        this.module = module;
        this.ordinal = ordinal;
        this.name = name;
        this.convention = convention;
        this.attributes = Map.copyOf(attributes);
    }

    /**
     * Returns the exporting module.
     *
     * @return the module
     */
    public VmModule module() {
        return module;
    }

    /**
     * Returns the function's number in the module.
     *
     * @return a number with meaning only to the module
     */
    public int ordinal() {
        return ordinal;
    }

    /**
     * Returns the function's name within the module.
     *
     * @return for example {@code add}
     */
    public String name() {
        return name;
    }

    /**
     * Returns the qualified name.
     *
     * @return for example {@code module.add}
     */
    public String fullName() {
        return module.name() + "." + name;
    }

    /**
     * Returns the calling convention.
     *
     * @return the convention
     */
    public CallingConvention convention() {
        return convention;
    }

    /**
     * Returns the reflection attributes.
     *
     * @return for example {@code iree.abi.declaration} and {@code iree.abi.model}; unmodifiable
     */
    public Map<String, String> attributes() {
        return attributes;
    }

    /**
     * Returns the signature in the source language.
     *
     * @return the attribute {@value #DECLARATION}; empty when absent
     */
    public String declaration() {
        return attributes.getOrDefault(DECLARATION, "");
    }

    @Override
    public String toString() {
        return fullName() + "(" + convention + ")";
    }
}
