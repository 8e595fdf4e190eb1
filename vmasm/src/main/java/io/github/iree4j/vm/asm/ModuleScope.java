package io.github.iree4j.vm.asm;

import io.github.iree4j.flatbuffer.FlatBufferWriter;
import io.github.iree4j.vm.asm.OperandParser.Bits;
import io.github.iree4j.vm.asm.OperandParser.Name;
import io.github.iree4j.vm.asm.OperandParser.Value;
import io.github.iree4j.vm.isa.FieldKind;
import java.util.LinkedHashMap;
import java.util.Map;

/** Resolves names in instructions: globals, types, rodata, functions and imports of the module being assembled. */
final class ModuleScope {

    /** A named global: {@code size} bytes at an offset, or a reference when {@code size} is 0. */
    private record Global(int size, int ordinal) {}

    private final ModuleDraft draft;
    private final Map<String, Integer> declared = new LinkedHashMap<>();
    private final Map<String, Global> globals = new LinkedHashMap<>();

    ModuleScope(ModuleDraft draft) {
        this.draft = draft;
    }

    /** Declares a global; returns false when the name is taken. */
    boolean declareGlobal(String name, int size) {
        return declared.putIfAbsent(name, size) == null;
    }

    /**
     * Lays out the declared globals before the first function: values by ascending size, each size in the order of
     * declaration, as IREE's assembler does.
     */
    void layOutGlobals() {
        int at = 0;
        for (int size : new int[] {4, 8}) {
            for (Map.Entry<String, Integer> global : declared.entrySet()) {
                if (global.getValue() == size) {
                    at = (int) FlatBufferWriter.align(at, size);
                    globals.put(global.getKey(), new Global(size, at));
                    at += size;
                }
            }
        }
        draft.globalBytes = at;
        for (Map.Entry<String, Integer> global : declared.entrySet()) {
            if (global.getValue() == 0) {
                globals.put(global.getKey(), new Global(0, draft.globalRefs++));
            }
        }
    }

    /** Reads {@code .rwdata[offset]} or the name of a global of the given size. */
    int globalOffset(LineCursor line, int size) {
        return global(line, ".rwdata[", size, Integer.MAX_VALUE - 8L);
    }

    /** Reads {@code .refs[ordinal]} or the name of a global reference. */
    int globalRef(LineCursor line) {
        return global(line, ".refs[", 0, Integer.MAX_VALUE - 1L);
    }

    private int global(LineCursor line, String storage, int size, long max) {
        line.skipSpace();
        int mark = line.mark();
        if (line.tryTakeRaw(storage)) {
            int ordinal = (int) line.unsigned(max, "a number");
            line.take("]");
            return ordinal;
        }
        String name = line.name('@', "'%s0]' or a global like '@name'".formatted(storage));
        Global global = globals.get(name);
        if (global == null || global.size() != size) {
            line.reset(mark);
            throw line.error(
                    global == null
                            ? "a global that is declared before the functions"
                            : size == 0 ? "a global reference" : "a global of %d bytes".formatted(size));
        }
        return global.ordinal();
    }

    /** Returns the ordinal of a type: by name, or {@code type[n]} where the name would be ambiguous. */
    int type(LineCursor line, String name) {
        if (name.startsWith("type[") && name.endsWith("]")) {
            String number = name.substring("type[".length(), name.length() - 1);
            int ordinal = number.matches("[0-9]{1,9}") ? Integer.parseInt(number) : -1;
            if (ordinal < 0 || ordinal >= draft.types.size()) {
                throw line.failure("'%s' is not below the number of types, %d".formatted(name, draft.types.size()));
            }
            return ordinal;
        }
        return draft.typeOrdinal(name);
    }

    /** Reads the number or the {@code @name} of a rodata segment. */
    int rodata(LineCursor line) {
        int mark = line.mark();
        if (line.peek() == '@') {
            String name = line.symbol("rodata");
            int ordinal = draft.rodataOrdinal(name);
            if (ordinal < 0) {
                line.reset(mark);
                throw line.error("rodata that is declared before the functions");
            }
            return ordinal;
        }
        int ordinal = (int) line.unsigned(Integer.MAX_VALUE, "the number of a rodata segment");
        if (ordinal >= draft.rodata.size()) {
            line.reset(mark);
            throw line.error("the number of a rodata segment below " + draft.rodata.size());
        }
        return ordinal;
    }

    /**
     * Reads a function: {@code @module:3} or {@code @import:3} by ordinal, the full name of an import, or the name of a
     * function of this module, perhaps declared later.
     */
    Value function(LineCursor line) {
        line.skipSpace();
        int mark = line.mark();
        String name = line.symbol("function");
        if (line.tryTakeRaw(":")) {
            boolean isImport = !name.equals(draft.name) && name.equals("import");
            if (!isImport && !name.equals(draft.name)) {
                line.reset(mark);
                throw line.error("a function of module '@%s'".formatted(draft.name));
            }
            int limit = isImport ? draft.imports.size() : Integer.MAX_VALUE;
            int ordinal = (int) line.unsigned(limit - 1L, "a function number");
            return new Bits(isImport ? importBits(ordinal) : ordinal);
        }
        int imported = draft.importOrdinal(name);
        if (imported >= 0) {
            return new Bits(importBits(imported));
        }
        String prefix = draft.name + ".";
        return new Name(name.startsWith(prefix) ? name.substring(prefix.length()) : name, line, mark);
    }

    private static long importBits(int ordinal) {
        return Integer.toUnsignedLong(FieldKind.IMPORT_BIT | ordinal);
    }
}
