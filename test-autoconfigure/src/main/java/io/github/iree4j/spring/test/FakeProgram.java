package io.github.iree4j.spring.test;

import io.github.iree4j.VariantOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A program under construction, see {@link FakePrograms#program}. Not thread-safe. */
public final class FakeProgram {

    private final Map<String, FakeFunction> functions = new LinkedHashMap<>();

    private final List<VariantOptions> variants = new ArrayList<>();

    FakeProgram() {}

    /**
     * Adds a function.
     *
     * @param name the name
     * @param signature the types in the compiler's syntax, such as {@code (tensor<?x64xf32>) -> tensor<?x10xf32>}, with
     *     or without names
     * @return the function, without a script yet
     */
    public FakeFunction function(String name, String signature) {
        FakeFunction function = new FakeFunction(name, signature.strip());
        functions.put(name, function);
        return function;
    }

    /**
     * Adds a function with shape variants among the added functions; each call selects the fitting variant.
     *
     * @param options the name and the variants
     * @return this
     */
    public FakeProgram variants(VariantOptions options) {
        variants.add(options);
        return this;
    }

    List<VariantOptions> variants() {
        return variants;
    }

    Map<String, FakeFunction> functions() {
        return functions;
    }
}
