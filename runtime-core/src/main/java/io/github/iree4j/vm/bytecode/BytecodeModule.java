package io.github.iree4j.vm.bytecode;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.CallTracer;
import io.github.iree4j.vm.CallingConvention;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.ProgramTrace;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmDependency;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmImport;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.VmModuleState;
import io.github.iree4j.vm.VmType;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.isa.FeatureBits;
import io.github.iree4j.vm.isa.Isa;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A compiled program, a {@code .vmfb} file: read, verified and translated. Immutable, and safe to share between
 * contexts and threads.
 *
 * <p>Constants stay in place in the bytes of the file, without a copy. Contexts retain the module and so the bytes.
 * Closing releases the creator's reference.
 */
@NotForApplications
public final class BytecodeModule extends Resource implements VmModule {
    private static final int MAX_TYPES = 0xFFFF;

    private final ModuleDef def;
    private final @Nullable RefCounted owner;
    private final List<VmDependency> dependencies;
    private final List<VmImport> imports;
    private final List<CallingConvention> importConventions;
    private final List<VmFunction> exports;
    private final Map<String, VmFunction> exportsByName = new HashMap<>();
    private final VmType[] types;
    private final FunctionCode[] functions;
    private final ModuleCompiler compiler;
    private final @Nullable CallTracer tracer;
    private final VmBuffer[] rodata;

    private BytecodeModule(
            ModuleDef def,
            VmType[] types,
            List<CallingConvention> conventions,
            List<CallingConvention> importConventions,
            FunctionCode[] functions,
            ModuleCompiler compiler,
            @Nullable CallTracer tracer,
            @Nullable RefCounted owner) {
        this.tracer = tracer;
        this.compiler = compiler;
        this.def = def;
        this.types = types;
        this.functions = functions;
        this.importConventions = importConventions;
        dependencies = def.dependencies().stream()
                .map(d -> new VmDependency(d.name(), d.minimumVersion(), (d.flags() & ModuleDef.OPTIONAL) == 0))
                .toList();
        imports = def.imports().stream()
                .map(i -> new VmImport(
                        i.fullName(),
                        i.signature() == null ? "" : i.signature().convention(),
                        (i.flags() & ModuleDef.OPTIONAL) == 0))
                .toList();
        List<VmFunction> found = new ArrayList<>();
        for (ModuleDef.Export export : def.exports()) {
            VmFunction function = new VmFunction(
                    this,
                    export.function(),
                    export.name(),
                    conventions.get(export.function()),
                    def.signatures().get(export.function()).attributes());
            found.add(function);
            exportsByName.putIfAbsent(export.name(), function);
        }
        exports = List.copyOf(found);
        rodata = def.rodata().stream()
                .map(r -> VmBuffer.constant(r.bytes(), this))
                .toArray(VmBuffer[]::new);
        // Retained last, so nothing is held when reading fails.
        this.owner = owner;
        if (owner != null) {
            owner.retain();
        }
    }

    /**
     * Returns the supported versions of bytecode.
     *
     * @return major and minor, such as {@code 17.0}, oldest first
     */
    public static List<String> versions() {
        return Isa.all().stream().map(Isa::toString).toList();
    }

    /**
     * Reads a file into newly allocated memory.
     *
     * @param file the file
     * @param types the reference types available to the module
     * @param limits limits on the contents
     * @return the module, owned by the caller
     * @throws IreeException as {@link ModuleBytes#read}; NOT_FOUND also when the module uses an unknown type,
     *     INCOMPATIBLE for an unsupported version of bytecode, INVALID_ARGUMENT when the module is damaged or fails
     *     verification, RESOURCE_EXHAUSTED when the module exceeds the limits
     */
    public static BytecodeModule open(Path file, VmTypes types, ModuleLimits limits) {
        try (ModuleBytes bytes = ModuleBytes.read(file)) {
            return read(bytes.segment(), bytes.name(), types, limits, bytes);
        }
    }

    /**
     * Reads a module from memory.
     *
     * @param bytes all bytes of the module; not copied, and must not change while the module is open
     * @param nameForErrors the name in messages
     * @param types the reference types available to the module
     * @param limits limits on the contents
     * @param owner keeps the bytes valid, retained until the module is freed; null when not needed
     * @return the module, owned by the caller
     * @throws IreeException as {@link #open}
     */
    public static BytecodeModule read(
            MemorySegment bytes, String nameForErrors, VmTypes types, ModuleLimits limits, @Nullable RefCounted owner) {
        return read(bytes, nameForErrors, types, limits, owner, Compilation.byDefault());
    }

    /**
     * Reads a module from memory.
     *
     * @param bytes all bytes of the module; not copied, and must not change while the module is open
     * @param nameForErrors the name in messages
     * @param types the reference types available to the module
     * @param limits limits on the contents
     * @param owner keeps the bytes valid, retained until the module is freed; null when not needed
     * @param compilation whether and when functions become Java bytecode, overriding {@link Compilation#PROPERTY}
     * @return the module, owned by the caller
     * @throws IreeException as {@link #open}
     */
    public static BytecodeModule read(
            MemorySegment bytes,
            String nameForErrors,
            VmTypes types,
            ModuleLimits limits,
            @Nullable RefCounted owner,
            Compilation compilation) {
        return read(bytes, nameForErrors, types, limits, owner, compilation, null);
    }

    /**
     * Reads a module from memory and reports every call in the module to a tracer. The module is interpreted.
     *
     * @param bytes all bytes of the module; not copied, and must not change while the module is open
     * @param nameForErrors the name in messages
     * @param types the reference types available to the module
     * @param limits limits on the contents
     * @param owner keeps the bytes valid, retained until the module is freed; null when not needed
     * @param tracer receives the calls
     * @return the module, owned by the caller
     * @throws IreeException as {@link #open}
     */
    public static BytecodeModule readTraced(
            MemorySegment bytes,
            String nameForErrors,
            VmTypes types,
            ModuleLimits limits,
            @Nullable RefCounted owner,
            CallTracer tracer) {
        return read(bytes, nameForErrors, types, limits, owner, Compilation.OFF, tracer);
    }

    private static BytecodeModule read(
            MemorySegment bytes,
            String nameForErrors,
            VmTypes types,
            ModuleLimits limits,
            @Nullable RefCounted owner,
            Compilation compilation,
            @Nullable CallTracer tracer) {
        try {
            ModuleDef def = ModuleDef.read(bytes, limits);
            Isa isa = isaOf(def);
            VmType[] resolved = resolveTypes(def, types);
            List<CallingConvention> conventions = new ArrayList<>();
            for (ModuleDef.Signature signature : def.signatures()) {
                conventions.add(CallingConvention.parse(signature.convention()));
            }
            List<CallingConvention> importConventions = new ArrayList<>();
            for (ModuleDef.Import entry : def.imports()) {
                importConventions.add(CallingConvention.parse(
                        entry.signature() == null ? "" : entry.signature().convention()));
            }
            FunctionCode[] functions = translate(def, isa, conventions, importConventions);
            ModuleCompiler compiler = new ModuleCompiler(def.name(), functions, isa, def);
            switch (compilation) {
                case OFF -> {}
                case BACKGROUND -> compiler.watch();
                case EAGER -> compiler.compileAll();
            }
            return new BytecodeModule(
                    def, resolved, conventions, importConventions, functions, compiler, tracer, owner);
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "module file '%s': %s".formatted(nameForErrors, e.getMessage()), e);
        }
    }

    static Isa isaOf(ModuleDef def) {
        Isa isa = Versions.isaOf(def.bytecodeMajor(), def.bytecodeMinor());
        int unknown = def.requirements() & ~isa.features();
        if (unknown != 0) {
            throw IreeException.of(
                    StatusCode.INCOMPATIBLE,
                    "module '%s' needs features %s and bytecode %s has %s"
                            .formatted(
                                    def.name(), FeatureBits.format(unknown), isa, FeatureBits.format(isa.features())));
        }
        return isa;
    }

    private static VmType[] resolveTypes(ModuleDef def, VmTypes types) {
        if (def.types().size() > MAX_TYPES) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "it has %d types, more than the limit of %d"
                            .formatted(def.types().size(), MAX_TYPES));
        }
        VmType[] resolved = new VmType[def.types().size()];
        for (int i = 0; i < resolved.length; i++) {
            String name = def.types().get(i);
            VmType type = types.resolve(name);
            if (type == null) {
                throw IreeException.of(
                        StatusCode.NOT_FOUND,
                        "module '%s' uses type '%s', which no module of this runtime provides (known: %s)"
                                .formatted(def.name(), name, String.join(", ", types.names())));
            }
            resolved[i] = type;
        }
        return resolved;
    }

    private static FunctionCode[] translate(
            ModuleDef def, Isa isa, List<CallingConvention> conventions, List<CallingConvention> importConventions) {
        FunctionCode[] functions = new FunctionCode[def.functions().size()];
        String[] names = functionNames(def);
        for (int i = 0; i < functions.length; i++) {
            ModuleDef.Function function = def.functions().get(i);
            byte[] body = Arrays.copyOfRange(def.bytecode(), function.offset(), function.offset() + function.length());
            try {
                FunctionVerifier.verify(def, conventions, importConventions, i, isa, body);
            } catch (IreeException e) {
                throw IreeException.of(
                        e.code(), "function '%s.%s': %s".formatted(def.name(), names[i], e.getMessage()), e);
            }
            functions[i] = Translator.translate(
                    new Translator.FunctionCodeContext(names[i], i, function, conventions, importConventions),
                    isa,
                    body);
        }
        if (isa == Isa.V15_0) {
            ArgumentRegisters.correct(functions, i -> {
                ModuleDef.Function place = def.functions().get(i);
                byte[] body = Arrays.copyOfRange(def.bytecode(), place.offset(), place.offset() + place.length());
                return new FunctionGraph(functions[i], isa, body);
            });
        }
        return functions;
    }

    static String[] functionNames(ModuleDef def) {
        String[] names = new String[def.functions().size()];
        for (ModuleDef.Export export : def.exports()) {
            if (names[export.function()] == null) {
                names[export.function()] = export.name();
            }
        }
        for (int i = 0; i < names.length; i++) {
            String debugName =
                    names[i] == null && def.debug() != null ? def.debug().functionName(i) : null;
            if (names[i] == null) {
                names[i] = debugName == null ? "#" + i : debugName;
            }
        }
        return names;
    }

    @Override
    public String name() {
        return def.name();
    }

    @Override
    public int version() {
        return def.version();
    }

    @Override
    public Map<String, String> attributes() {
        return def.attributes();
    }

    @Override
    public List<VmDependency> dependencies() {
        return dependencies;
    }

    @Override
    public List<VmImport> imports() {
        return imports;
    }

    @Override
    public List<VmFunction> exports() {
        return exports;
    }

    @Override
    public @Nullable VmFunction resolve(String functionName, String callingConvention) {
        VmFunction function = exportsByName.get(functionName);
        if (function == null
                || callingConvention.isEmpty()
                || function.convention().text().equals(callingConvention)
                || function.convention().matches(CallingConvention.parse(callingConvention))) {
            return function;
        }
        return null;
    }

    @Override
    public VmModuleState createState(ContextOptions options) {
        checkLive();
        return new BytecodeState(this, options, functions, def.globalBytes(), def.globalRefs());
    }

    /**
     * Returns the contents of the file.
     *
     * @return the contents; constants are valid while the module is open
     */
    public ModuleDef definition() {
        return def;
    }

    /**
     * Returns how much of the module currently runs as Java bytecode.
     *
     * @return the numbers, and the functions remaining interpreted with the reasons
     */
    public CompilationReport compilation() {
        return compiler.report();
    }

    /**
     * Returns whether a function may use an object after passing the object to a consuming import. References through
     * globals, lists and other functions are not followed, and functions too expensive to analyse are skipped.
     *
     * @param release the full name of the consuming import
     * @param argument the index of the consumed argument among the references, from 0
     * @param views imports whose result is the first reference argument under another name
     * @return true if some path through the code uses the object afterwards
     */
    public boolean usesAfter(String release, int argument, Set<String> views) {
        boolean[] releases = importsNamed(Set.of(release));
        boolean[] copies = importsNamed(views);
        long left = LaterUses.MAX_WORK;
        for (int i = 0; i < functions.length; i++) {
            FunctionCode function = functions[i];
            if (Arrays.stream(function.sites).anyMatch(site -> site.isImport && releases[site.callee])) {
                LaterUses uses = new LaterUses(graph(i), releases, argument, copies, left);
                if (uses.found()) {
                    return true;
                }
                left = uses.left();
            }
        }
        return false;
    }

    private FunctionGraph graph(int function) {
        ModuleDef.Function place = def.functions().get(function);
        byte[] body = Arrays.copyOfRange(def.bytecode(), place.offset(), place.offset() + place.length());
        return new FunctionGraph(functions[function], isaOf(def), body);
    }

    /**
     * Returns the proven shapes of the arguments and results of functions, derived by following views of buffers
     * through registers and calls. A check counts if every path to a return passes the check. Work is limited; beyond
     * the limit nothing is known.
     *
     * @param chosen the ordinals of the functions
     * @param views name prefixes of the imports that check ({@code .assert}), create ({@code .create}) and measure
     *     ({@code .dim}) views, such as {@code hal.buffer_view}
     * @return the proven shapes by ordinal
     */
    public Map<Integer, ProvenShapes> provenShapes(BitSet chosen, Set<String> views) {
        ShapeRecovery recovery = new ShapeRecovery(functions, this::graph, imports, views);
        return chosen.stream().boxed().collect(Collectors.toMap(each -> each, recovery::proven));
    }

    /**
     * Returns the functions calling certain imports, directly or through other functions of the module.
     *
     * @param prefix the prefix of the imports' full names
     * @return the ordinals of the functions
     */
    public BitSet callersOf(String prefix) {
        BitSet callers = new BitSet();
        int known;
        do {
            known = callers.cardinality();
            for (int i = 0; i < functions.length; i++) {
                for (FunctionCode.CallSite site : functions[i].sites) {
                    if (site.isImport
                            ? imports.get(site.callee).fullName().startsWith(prefix)
                            : callers.get(site.callee)) {
                        callers.set(i);
                    }
                }
            }
        } while (callers.cardinality() > known);
        return callers;
    }

    private boolean[] importsNamed(Set<String> names) {
        boolean[] found = new boolean[imports.size()];
        for (int i = 0; i < found.length; i++) {
            found[i] = names.contains(imports.get(i).fullName());
        }
        return found;
    }

    FunctionCode[] functions() {
        return functions;
    }

    ModuleCompiler compiler() {
        return compiler;
    }

    @Nullable
    CallTracer tracer() {
        return tracer;
    }

    CallingConvention importConvention(int ordinal) {
        return importConventions.get(ordinal);
    }

    VmType[] types() {
        return types;
    }

    VmBuffer[] rodata() {
        return rodata;
    }

    /** Returns the location of an instruction in the model's source; empty when unknown. */
    List<ProgramTrace.Source> sourcesOf(int function, int offset) {
        return def.debug() == null ? List.of() : def.debug().sources(function, offset);
    }

    @Override
    protected String describe() {
        return "module '" + def.name() + "'";
    }

    @Override
    public String toString() {
        return def.name();
    }

    @Override
    protected void destroy() {
        if (owner != null) {
            owner.release();
        }
    }
}
