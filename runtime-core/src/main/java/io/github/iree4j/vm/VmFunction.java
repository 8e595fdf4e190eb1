package io.github.iree4j.vm;

import java.util.Map;

/** A function that a module exports. Immutable. */
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
     * @param module the module it belongs to
     * @param ordinal its number in the module
     * @param name its name within the module
     * @param convention its calling convention
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
     * Returns the module it belongs to.
     *
     * @return the module
     */
    public VmModule module() {
        return module;
    }

    /**
     * Returns its number in its module.
     *
     * @return a number that has meaning only to the module
     */
    public int ordinal() {
        return ordinal;
    }

    /**
     * Returns its name within the module.
     *
     * @return for example {@code add}
     */
    public String name() {
        return name;
    }

    /**
     * Returns its qualified name.
     *
     * @return for example {@code module.add}
     */
    public String fullName() {
        return module.name() + "." + name;
    }

    /**
     * Returns its calling convention.
     *
     * @return the convention
     */
    public CallingConvention convention() {
        return convention;
    }

    /**
     * Returns its reflection attributes.
     *
     * @return for example {@code iree.abi.declaration} and {@code iree.abi.model}; unmodifiable
     */
    public Map<String, String> attributes() {
        return attributes;
    }

    /**
     * Returns its signature in its source language.
     *
     * @return the attribute {@value #DECLARATION}; empty when there is none
     */
    public String declaration() {
        return attributes.getOrDefault(DECLARATION, "");
    }

    @Override
    public String toString() {
        return fullName() + "(" + convention + ")";
    }
}
