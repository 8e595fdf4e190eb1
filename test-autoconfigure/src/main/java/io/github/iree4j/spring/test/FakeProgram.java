package io.github.iree4j.spring.test;

import io.github.iree4j.VariantOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A program that is being written, see {@link FakePrograms#program}. One thread. */
public final class FakeProgram {

    private final Map<String, FakeFunction> functions = new LinkedHashMap<>();

    private final List<VariantOptions> variants = new ArrayList<>();

    FakeProgram() {}

    /**
     * Adds a function.
     *
     * @param name what it is called
     * @param signature its types, as the compiler writes them, such as {@code (tensor<?x64xf32>) -> tensor<?x10xf32>}, with names or without
     * @return the function, which does nothing yet
     */
    public FakeFunction function(String name, String signature) {
        FakeFunction function = new FakeFunction(name, "sync func @%s%s".formatted(name, signature.strip()));
        functions.put(name, function);
        return function;
    }

    /**
     * Has a function stand for several of these, of which each call gets the one whose shape fits.
     *
     * @param options what it is called, and which functions it stands for
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
