package io.github.iree4j.spring;

import io.github.iree4j.ProgramOptions;
import io.github.iree4j.ShapeRules;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The origin of a program, with the settings for loading. Immutable; made with {@link #builder}. */
public final class ProgramSource {

    /** The scope whose archives also serve programs without scope names. */
    public static final String DEFAULT_SCOPE = "default";

    /** The version of programs without a configured version. */
    public static final String DEFAULT_VERSION = "1";

    /** The maximum number of contexts of a program. */
    public static final int MAXIMUM_CONTEXTS = 256;

    private final String name;
    private final String version;
    private final String location;
    private final @Nullable String sha256;
    private final @Nullable String signature;
    private final boolean mapped;
    private final List<String> devices;
    private final Placement placement;
    private final Map<String, List<String>> parameters;
    private final int contexts;
    private final boolean overlappingCalls;
    private final List<WarmUp> warmUps;
    private final List<Variants> variants;
    private final Consumer<ProgramOptions.Builder> customizer;

    /**
     * Calls of a function.
     *
     * @param function the function's name in the program
     * @param inputs the inputs as text: {@code 1x64xf32=0} is a tensor, {@code 4xf32} a tensor of zeros, anything else
     *     a number
     * @param repeat number of calls on each context, at least 1
     */
    public record WarmUp(String function, List<String> inputs, int repeat) {
        /** Copies the inputs and checks {@code repeat}. */
        public WarmUp {
            inputs = List.copyOf(inputs);
            if (repeat < 1) {
                throw new IllegalArgumentException(
                        "'repeat' of the warm-up of '%s' is %d and must be at least 1".formatted(function, repeat));
            }
        }
    }

    /**
     * A function with shape variants, see {@link io.github.iree4j.FunctionVariants}.
     *
     * @param function the function's name in the program
     * @param rules rules for padding calls and cropping results; null for the rules declared by the module
     * @param functions names of the candidate functions, in which {@code *} matches any characters; empty for functions
     *     of this name, also with a suffix after {@code _}, {@code -}, {@code $} or {@code .}
     * @param modules further modules with such functions; these modules share the parameters of the program
     */
    public record Variants(
            String function, @Nullable ShapeRules rules, List<String> functions, List<VariantModule> modules) {
        /** Copies the lists. */
        public Variants {
            functions = List.copyOf(functions);
            modules = List.copyOf(modules);
        }

        /** Returns these variants without further modules. */
        public Variants withoutModules() {
            return new Variants(function, rules, functions, List.of());
        }
    }

    /**
     * A further module of a program.
     *
     * @param location the module file (.vmfb): a path, or a URL or {@code classpath:} location
     * @param sha256 expected checksum of the module file, in hexadecimal; null for no check
     * @param sizes axis sizes used for compilation, if not declared by the module
     */
    public record VariantModule(String location, @Nullable String sha256, Map<String, Long> sizes) {
        /**
         * Checks and copies.
         *
         * @throws IllegalArgumentException when the location is blank or the checksum is malformed
         */
        public VariantModule {
            if (location.isBlank()) {
                throw new IllegalArgumentException("'location' of a module of variants must not be blank");
            }
            sha256 = checksum(sha256, location);
            sizes = Map.copyOf(sizes);
        }
    }

    private static @Nullable String checksum(@Nullable String sha256, String of) {
        if (sha256 == null) {
            return null;
        }
        String digits = sha256.strip().toLowerCase(Locale.ROOT);
        if (!digits.matches("[0-9a-f]{64}")) {
            throw new IllegalArgumentException("'sha256' of '%s' must have 64 hexadecimal digits".formatted(of));
        }
        return digits;
    }

    private ProgramSource(Builder builder) {
        name = builder.name;
        version = builder.version;
        location = builder.location;
        if (name.isBlank()) {
            throw new IllegalArgumentException("'name' must not be blank");
        }
        if (version.isBlank()) {
            throw new IllegalArgumentException("'version' of program '%s' must not be blank".formatted(name));
        }
        if (location.isBlank()) {
            throw new IllegalArgumentException("'location' of program '%s' must not be blank".formatted(name));
        }
        sha256 = checksum(builder.sha256, name);
        signature = builder.signature;
        mapped = builder.mapped;
        devices = List.copyOf(builder.devices);
        placement = builder.placement;
        Map<String, List<String>> copy = new TreeMap<>();
        builder.parameters.forEach((scope, locations) -> copy.put(scope, List.copyOf(locations)));
        parameters = Collections.unmodifiableMap(copy);
        contexts = builder.contexts;
        if (contexts < 1 || contexts > MAXIMUM_CONTEXTS) {
            throw new IllegalArgumentException("'contexts' of program '%s' is %d and must be within [1, %d]"
                    .formatted(name, contexts, MAXIMUM_CONTEXTS));
        }
        overlappingCalls = builder.overlappingCalls;
        warmUps = List.copyOf(builder.warmUps);
        variants = List.copyOf(builder.variants);
        customizer = builder.customizer;
    }

    /**
     * Returns the source of a program without parameters on the devices of the runtime.
     *
     * @param name the prefix of the names of the program's functions
     * @param location the module file
     * @return the source
     */
    public static ProgramSource of(String name, String location) {
        return builder(name, location).build();
    }

    /**
     * Returns a builder of a source.
     *
     * @param name the prefix of the names of the program's functions
     * @param location the module file (.vmfb): a path, or a URL or {@code classpath:} location
     * @return a builder
     */
    public static Builder builder(String name, String location) {
        return new Builder(name, location);
    }

    /** Returns the prefix of the names of the program's functions; not empty. */
    public String name() {
        return name;
    }

    /** Returns the program's version; several versions of a name can be loaded at once. */
    public String version() {
        return version;
    }

    /** Returns the module file (.vmfb): a path, or a URL or {@code classpath:} location. */
    public String location() {
        return location;
    }

    /** Returns the expected checksum of the module file, in lower-case hexadecimal; empty for no check. */
    public Optional<String> sha256() {
        return Optional.ofNullable(sha256);
    }

    /** Returns the location of the signature of the module file, see {@link Integrity}; empty for none. */
    public Optional<String> signature() {
        return Optional.ofNullable(signature);
    }

    /**
     * Returns whether the module file is mapped rather than read, unless verified; a mapped file must not be
     * overwritten or truncated.
     */
    public boolean mapped() {
        return mapped;
    }

    /** Returns names of devices of the runtime; empty for all devices. */
    public List<String> devices() {
        return devices;
    }

    /** Returns the use of several devices by the program. */
    public Placement placement() {
        return placement;
    }

    /**
     * Returns locations of parameter files (.irpa, .gguf, .safetensors) by scope; the archives of scope {@code default}
     * also serve programs without scope names.
     */
    public Map<String, List<String>> parameters() {
        return parameters;
    }

    /** Returns the number of concurrent calls on each placement, each with separate state. */
    public int contexts() {
        return contexts;
    }

    /**
     * Returns whether one call may run while another waits; for programs whose functions keep no state across waits
     * that another call could change.
     */
    public boolean overlappingCalls() {
        return overlappingCalls;
    }

    /** Returns calls to make before the program counts as loaded. */
    public List<WarmUp> warmUps() {
        return warmUps;
    }

    /** Returns functions with shape variants; each call selects the variant fitting the call's shapes. */
    public List<Variants> variants() {
        return variants;
    }

    /** Returns the last customizer of the load options. */
    public Consumer<ProgramOptions.Builder> customizer() {
        return customizer;
    }

    @Override
    public String toString() {
        return "ProgramSource[name=%s, version=%s, location=%s]".formatted(name, version, location);
    }

    /** Returns name and version, for messages. */
    String describe() {
        return version.equals(DEFAULT_VERSION) ? "'%s'".formatted(name) : "'%s' version %s".formatted(name, version);
    }

    /** Builder of a source. Not thread-safe. */
    public static final class Builder {
        private final String name;
        private final String location;
        private String version = DEFAULT_VERSION;
        private @Nullable String sha256;
        private @Nullable String signature;
        private boolean mapped;
        private final List<String> devices = new ArrayList<>();
        private Placement placement = Placement.FIXED;
        private final Map<String, List<String>> parameters = new TreeMap<>();
        private int contexts = 1;
        private boolean overlappingCalls;
        private final List<WarmUp> warmUps = new ArrayList<>();
        private final List<Variants> variants = new ArrayList<>();
        private Consumer<ProgramOptions.Builder> customizer = options -> {};

        private Builder(String name, String location) {
            this.name = name;
            this.location = location;
        }

        /**
         * Sets the version.
         *
         * @param label {@value #DEFAULT_VERSION} unless set
         * @return this builder
         */
        public Builder version(String label) {
            this.version = label;
            return this;
        }

        /**
         * Sets the expected checksum of the module file.
         *
         * @param hexadecimal 64 digits; null for no check
         * @return this builder
         */
        public Builder sha256(@Nullable String hexadecimal) {
            this.sha256 = hexadecimal;
            return this;
        }

        /**
         * Sets the signature of the module file.
         *
         * @param where location of the signature; null for none
         * @return this builder
         */
        public Builder signature(@Nullable String where) {
            this.signature = where;
            return this;
        }

        /**
         * Sets whether the module file is mapped rather than read, for modules with large constants. A mapped file must
         * not be overwritten or truncated: such a change alters the program during calls or fails calls.
         *
         * @param map false unless set
         * @return this builder
         */
        public Builder mapped(boolean map) {
            this.mapped = map;
            return this;
        }

        /**
         * Adds devices.
         *
         * @param names of devices of the runtime; all devices unless set
         * @return this builder
         */
        public Builder devices(List<String> names) {
            devices.addAll(names);
            return this;
        }

        /**
         * Sets the use of several devices by the program.
         *
         * @param policy FIXED unless set
         * @return this builder
         */
        public Builder placement(Placement policy) {
            this.placement = policy;
            return this;
        }

        /**
         * Adds parameter archives.
         *
         * @param archives locations by scope
         * @return this builder
         */
        public Builder parameters(Map<String, List<String>> archives) {
            archives.forEach((scope, locations) ->
                    parameters.computeIfAbsent(scope, _ -> new ArrayList<>()).addAll(locations));
            return this;
        }

        /**
         * Sets the number of concurrent calls on each placement, each with separate state.
         *
         * @param count 1 to {@value #MAXIMUM_CONTEXTS}; 1 unless set
         * @return this builder
         */
        public Builder contexts(int count) {
            this.contexts = count;
            return this;
        }

        /**
         * Sets whether one call may run while another waits.
         *
         * @param overlap false unless set; true for programs whose functions keep no state across waits that another
         *     call could change
         * @return this builder
         */
        public Builder overlappingCalls(boolean overlap) {
            this.overlappingCalls = overlap;
            return this;
        }

        /**
         * Adds calls to make before the program counts as loaded.
         *
         * @param calls the calls, in order
         * @return this builder
         */
        public Builder warmUps(List<WarmUp> calls) {
            warmUps.addAll(calls);
            return this;
        }

        /**
         * Adds functions with shape variants.
         *
         * @param functions each with a distinct name
         * @return this builder
         */
        public Builder variants(List<Variants> functions) {
            variants.addAll(functions);
            return this;
        }

        /**
         * Sets the customizer of the load options.
         *
         * @param last called for each placement, after everything else is set
         * @return this builder
         */
        public Builder customizer(Consumer<ProgramOptions.Builder> last) {
            this.customizer = last;
            return this;
        }

        /**
         * Builds the source.
         *
         * @return the source
         * @throws IllegalArgumentException when a value is out of range; names the value
         */
        public ProgramSource build() {
            return new ProgramSource(this);
        }
    }
}
