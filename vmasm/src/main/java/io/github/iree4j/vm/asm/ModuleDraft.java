package io.github.iree4j.vm.asm;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A module being assembled: the tables of a module file, with names still in place of offsets. */
final class ModuleDraft {

    /** A reflection attribute of the module, an import or a function. */
    record Attribute(String key, String value) {}

    /** A dependency of this module on another module, possibly optional. */
    record Dependency(String name, int minimumVersion, boolean optional) {}

    /** A function of another module. */
    record Import(String fullName, String callingConvention, boolean optional, List<Attribute> attributes) {}

    /** A public name of a function; {@code line} is the line of the declaration. */
    record Export(String name, String function, int line) {}

    /** Constant bytes. {@code alignment} is relative to the file, mapped at a page boundary. */
    record Rodata(
            MemorySegment data,
            int alignment,
            boolean external,
            @Nullable String symbol) {
        long length() {
            return data.byteSize();
        }
    }

    /** The source location of the instruction at an offset of a function. */
    record Located(int offset, SourceText source) {}

    /** A function with code in {@link #code}. */
    record Function(
            String name,
            String callingConvention,
            List<Attribute> attributes,
            int codeOffset,
            int codeLength,
            int requirements,
            int blockCount,
            int valueRegisters,
            int refRegisters,
            List<Located> locations) {}

    @Nullable
    String name;

    int version;
    /** Feature bits needed by the functions. */
    int derivedRequirements;
    /** Feature bits declared by the text in place of the derived bits. */
    @Nullable
    Integer declaredRequirements;

    int bytecodeVersion;
    int globalBytes;
    int globalRefs;
    byte[] code = {};

    final List<Attribute> attributes = new ArrayList<>();
    final List<String> types = new ArrayList<>();
    final List<Dependency> dependencies = new ArrayList<>();
    final List<Import> imports = new ArrayList<>();
    final List<Export> exports = new ArrayList<>();
    final List<Function> functions = new ArrayList<>();
    final List<Rodata> rodata = new ArrayList<>();
    final List<Integer> rwdata = new ArrayList<>();

    /** Returns the ordinal of the type {@code name}, adding a new type. */
    int typeOrdinal(String name) {
        int ordinal = types.indexOf(name);
        if (ordinal < 0 && !name.startsWith("!")) {
            // "vm.buffer" is accepted for "!vm.buffer".
            ordinal = types.indexOf("!" + name);
        }
        if (ordinal < 0) {
            ordinal = types.size();
            types.add(name);
        }
        return ordinal;
    }

    int importOrdinal(String fullName) {
        for (int i = 0; i < imports.size(); i++) {
            if (imports.get(i).fullName().equals(fullName)) {
                return i;
            }
        }
        return -1;
    }

    int functionOrdinal(String functionName) {
        for (int i = 0; i < functions.size(); i++) {
            if (functions.get(i).name().equals(functionName)) {
                return i;
            }
        }
        return -1;
    }

    int rodataOrdinal(String symbol) {
        for (int i = 0; i < rodata.size(); i++) {
            if (symbol.equals(rodata.get(i).symbol())) {
                return i;
            }
        }
        return -1;
    }
}
