package io.github.iree4j.call;

import io.github.iree4j.vm.VmFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How a function of a program is called from Java: its calling convention without fences, and its declaration: that of its module where it
 * fits, or what is known otherwise. Thread-safe.
 */
public final class Signature {
    /** {@code iree.abi.model} of functions that take a fence to wait for and one to signal, after all declared arguments. */
    private static final String COARSE_FENCES = "coarse-fences";

    /** End of the names of such functions in modules that export each of them twice, with and without fences: up to IREE 2024, and unmarked. */
    public static final String WITH_FENCES = "$async";

    private final VmFunction function;
    private final String arguments;
    private final String results;
    private final boolean asynchronous;
    private final boolean isModules; // whether the declaration is the module's own
    private @Nullable AbiDeclaration declaration;
    private volatile @Nullable Supplier<@Nullable AbiDeclaration>
            pending; // null once 'declaration' is what it supplies

    /** Derives the signature of a function. */
    public Signature(VmFunction function) {
        this.function = function;
        String letters = function.convention().arguments();
        boolean fences = COARSE_FENCES.equals(function.attributes().get("iree.abi.model"))
                || function.name().endsWith(WITH_FENCES);
        this.asynchronous = fences && letters.endsWith("rr");
        this.arguments = asynchronous ? letters.substring(0, letters.length() - 2) : letters;
        this.results = function.convention().results();
        AbiDeclaration parsed = AbiDeclaration.parse(function.declaration());
        boolean fits = parsed != null
                && parsed.arguments().size() == arguments.length()
                && parsed.results().size() == results.length();
        this.declaration = fits ? parsed : null;
        this.isModules = true;
    }

    private Signature(Signature of, Supplier<@Nullable AbiDeclaration> declaration) {
        this.function = of.function;
        this.arguments = of.arguments;
        this.results = of.results;
        this.asynchronous = of.asynchronous;
        this.pending = declaration;
        this.isModules = false;
    }

    /**
     * The same function with another declaration.
     *
     * @param known asked when it is first needed; with one value for each of the arguments and results, or null for none
     */
    public Signature with(Supplier<@Nullable AbiDeclaration> known) {
        return new Signature(this, known);
    }

    /** Declares each argument and result; null when nothing is known of them. */
    public @Nullable AbiDeclaration declaration() {
        Supplier<@Nullable AbiDeclaration> find = pending;
        if (find != null) {
            declaration = find.get();
            pending = null; // after it: who sees that also sees the declaration
        }
        return declaration;
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

    /** What is known, else the module's own text, else the calling convention. */
    public String text() {
        AbiDeclaration known = declaration();
        if (known != null && !isModules) {
            return known.text((asynchronous ? "async func @" : "sync func @") + function.name());
        }
        return function.declaration().isEmpty()
                ? function.fullName() + " (" + function.convention() + ")"
                : function.declaration();
    }

    /** The declaration of an argument; null for none. */
    public AbiDeclaration.@Nullable Value declared(int argument) {
        AbiDeclaration known = declaration();
        return known == null ? null : known.arguments().get(argument);
    }

    /** The declaration of a result; null for none. */
    public AbiDeclaration.@Nullable Value declaredResult(int result) {
        AbiDeclaration known = declaration();
        return known == null ? null : known.results().get(result);
    }

    /** Names the function in messages. */
    public String describe() {
        return function.fullName();
    }

    /** Names an argument in messages. */
    public String describeArgument(int index) {
        AbiDeclaration.Value declared = declared(index);
        String name = declared == null || declared.name().isEmpty() ? "" : " '" + declared.name() + "'";
        return "argument %d%s of function '%s'".formatted(index, name, describe());
    }
}
