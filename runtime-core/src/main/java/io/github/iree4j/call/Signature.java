package io.github.iree4j.call;

import io.github.iree4j.vm.VmFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The signature of a program's function for calls from Java: the calling convention without fences, and the
 * declaration. The declaration is the module's where it fits, otherwise a declaration known from elsewhere.
 * Thread-safe.
 */
public final class Signature {
    /** {@code iree.abi.model} of functions with a fence to wait for and a fence to signal, after all declared arguments. */
    private static final String COARSE_FENCES = "coarse-fences";

    /** Suffix of the names of such functions in modules exporting each function twice, with and without fences: up to IREE 2024, and unmarked. */
    public static final String WITH_FENCES = "$async";

    private final VmFunction function;
    private final String name;
    private final String arguments;
    private final String results;
    private final boolean asynchronous;
    private final boolean isModules; // whether the declaration is the module's own
    private @Nullable AbiDeclaration declaration;
    private volatile @Nullable Supplier<@Nullable AbiDeclaration>
            pending; // null once 'declaration' has the supplied value

    /** Derives the signature of a function. */
    public Signature(VmFunction function) {
        this.function = function;
        this.name = function.fullName();
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

    private Signature(Signature of, String name, Supplier<@Nullable AbiDeclaration> declaration, boolean isModules) {
        this.function = of.function;
        this.name = name;
        this.arguments = of.arguments;
        this.results = of.results;
        this.asynchronous = of.asynchronous;
        this.pending = declaration;
        this.isModules = isModules;
    }

    /**
     * Returns the same function with another declaration.
     *
     * @param known called at the first use; supplies a value for each argument and result, or null without a
     *     declaration
     */
    public Signature with(Supplier<@Nullable AbiDeclaration> known) {
        return new Signature(this, name, known, false);
    }

    /** Returns the same function with another name in messages. */
    public Signature named(String described) {
        return new Signature(this, described, this::declaration, isModules);
    }

    /** The declaration of each argument and result; null when nothing is known. */
    public @Nullable AbiDeclaration declaration() {
        Supplier<@Nullable AbiDeclaration> find = pending;
        if (find != null) {
            declaration = find.get();
            pending = null; // after the write: a reader of null also sees the declaration
        }
        return declaration;
    }

    /** The function itself. */
    public VmFunction function() {
        return function;
    }

    /** A letter for each argument given by the caller. */
    public String arguments() {
        return arguments;
    }

    /** A letter for each result. */
    public String results() {
        return results;
    }

    /** Whether the function takes a fence to wait for and a fence to signal; the caller passes no fences as arguments. */
    public boolean isAsynchronous() {
        return asynchronous;
    }

    /** The text of the known declaration, else the module's own text, else the calling convention. */
    public String text() {
        AbiDeclaration known = declaration();
        if (known != null && !isModules) {
            return known.text((asynchronous ? "async func @" : "sync func @") + function.name());
        }
        return function.declaration().isEmpty() ? name + " (" + function.convention() + ")" : function.declaration();
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
        return name;
    }

    /** Names an argument in messages. */
    public String describeArgument(int index) {
        AbiDeclaration.Value declared = declared(index);
        String name = declared == null || declared.name().isEmpty() ? "" : " '" + declared.name() + "'";
        return "argument %d%s of function '%s'".formatted(index, name, describe());
    }
}
