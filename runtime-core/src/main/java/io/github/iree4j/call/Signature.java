package io.github.iree4j.call;

import io.github.iree4j.vm.VmFunction;
import org.jspecify.annotations.Nullable;

/** How a function of a program is called from Java: its calling convention without fences, and its declaration where that fits. */
public final class Signature {
    /** {@code iree.abi.model} of functions that take a fence to wait for and one to signal, after all declared arguments. */
    private static final String COARSE_FENCES = "coarse-fences";

    /** End of the names of such functions in modules that export each of them twice, with and without fences: up to IREE 2024, and unmarked. */
    public static final String WITH_FENCES = "$async";

    private final VmFunction function;
    private final String arguments;
    private final String results;
    private final boolean asynchronous;
    private final String declarationText;
    private final @Nullable AbiDeclaration declaration;

    /** Derives the signature of a function. */
    public Signature(VmFunction function) {
        this.function = function;
        String letters = function.convention().arguments();
        boolean fences = COARSE_FENCES.equals(function.attributes().get("iree.abi.model"))
                || function.name().endsWith(WITH_FENCES);
        this.asynchronous = fences && letters.endsWith("rr");
        this.arguments = asynchronous ? letters.substring(0, letters.length() - 2) : letters;
        this.results = function.convention().results();
        String text = function.declaration();
        this.declarationText = text;
        AbiDeclaration parsed = AbiDeclaration.parse(text);
        boolean fits = parsed != null
                && parsed.arguments().size() == arguments.length()
                && parsed.results().size() == results.length();
        this.declaration = fits ? parsed : null;
    }

    /** The function itself. */
    public VmFunction function() {
        return function;
    }

    /** One letter per argument that the caller gives. */
    public String arguments() {
        return arguments;
    }

    /** One letter per result. */
    public String results() {
        return results;
    }

    /** Whether it takes a fence to wait for and one to signal, which are not arguments of the caller. */
    public boolean isAsynchronous() {
        return asynchronous;
    }

    /** The module's own text, or the calling convention when it has none. */
    public String text() {
        return declarationText.isEmpty() ? function.fullName() + " (" + function.convention() + ")" : declarationText;
    }

    /** The declaration of an argument; null for none. */
    public AbiDeclaration.@Nullable Value declared(int argument) {
        return declaration == null ? null : declaration.arguments().get(argument);
    }

    /** The declaration of a result; null for none. */
    public AbiDeclaration.@Nullable Value declaredResult(int result) {
        return declaration == null ? null : declaration.results().get(result);
    }

    /** Names the function in messages. */
    public String describe() {
        return function.fullName();
    }
}
