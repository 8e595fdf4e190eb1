package io.github.iree4j.tools.code;

import io.github.iree4j.flatbuffer.FlatBuffer;
import java.io.PrintWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Prints the tables of a module as JSON, field by field with the names of IREE's schema, like {@code iree-dump-module
 * --output=flatbuffer-json}. Fields missing in a table are left out.
 */
final class ModuleJson {
    private static final List<String> FEATURES = List.of("EXT_F32", "EXT_F64", "YIELD", "UNWIND");
    private static final List<String> NEED = List.of("REQUIRED", "OPTIONAL");
    private static final int DESCRIPTOR_BYTES = 20;
    private static final int LOCATION_BYTES = 8;
    private static final int MOST = Integer.MAX_VALUE;

    private final PrintWriter out;
    private final boolean pretty;
    private int depth;
    private boolean first = true;

    /** A printer of the members of a table. */
    @FunctionalInterface
    private interface Members {
        void print(FlatBuffer.Table table);
    }

    ModuleJson(PrintWriter out, boolean pretty) {
        this.out = out;
        this.pretty = pretty;
    }

    /** Prints the root table; the numbers are the slots of the schema. */
    void print(FlatBuffer.Table root) {
        open('{');
        string(root, "name", 0);
        unsigned(root, "version", 1);
        bits(root, "requirements", 2, FEATURES);
        tables(root, "attrs", 3, this::attribute);
        tables(root, "types", 4, type -> string(type, "full_name", 0));
        tables(root, "dependencies", 5, this::dependency);
        tables(root, "imported_functions", 6, this::imported);
        tables(root, "exported_functions", 7, this::exported);
        tables(root, "function_signatures", 8, this::signature);
        tables(root, "rodata_segments", 9, this::rodata);
        tables(root, "rwdata_segments", 10, segment -> signed(segment, "byte_size", 0));
        table(root, "module_state", 11, state -> {
            signed(state, "global_bytes_capacity", 0);
            signed(state, "global_ref_count", 1);
        });
        descriptors(root);
        unsigned(root, "bytecode_version", 13);
        bytes(root, "bytecode_data", 14);
        table(root, "debug_database", 15, this::debug);
        close('}');
        out.println();
    }

    private void attribute(FlatBuffer.Table attribute) {
        string(attribute, "key", 0);
        string(attribute, "value", 1);
    }

    private void signature(FlatBuffer.Table signature) {
        string(signature, "calling_convention", 0);
        tables(signature, "attrs", 1, this::attribute);
    }

    private void dependency(FlatBuffer.Table dependency) {
        string(dependency, "name", 0);
        unsigned(dependency, "minimum_version", 1);
        bits(dependency, "flags", 2, NEED);
    }

    private void imported(FlatBuffer.Table imported) {
        string(imported, "full_name", 0);
        table(imported, "signature", 1, this::signature);
        bits(imported, "flags", 2, NEED);
    }

    private void exported(FlatBuffer.Table exported) {
        string(exported, "local_name", 0);
        signed(exported, "internal_ordinal", 1);
    }

    private void rodata(FlatBuffer.Table segment) {
        if (segment.u8("compression", 0) != 0) {
            name("compression_type_type");
            quoted(segment.u8("compression", 0) == 1 ? "UncompressedDataDef" : "unknown");
            table(segment, "compression_type", 1, _ -> {});
        }
        bytes(segment, "embedded_data", 2);
        wide(segment, "external_data_offset", 3);
        wide(segment, "external_data_length", 4);
    }

    private void descriptors(FlatBuffer.Table root) {
        structs(root, "function_descriptors", 12, DESCRIPTOR_BYTES, (all, i) -> {
            number("bytecode_offset", all.i32(i, 0));
            number("bytecode_length", all.i32(i, 4));
            name("requirements");
            printBits(all.i32(i, 8), FEATURES);
            number("reserved", (short) all.u16(i, 12));
            number("block_count", (short) all.u16(i, 14));
            number("i32_register_count", (short) all.u16(i, 16));
            number("ref_register_count", (short) all.u16(i, 18));
        });
    }

    private void debug(FlatBuffer.Table database) {
        if (database.has("location types", 0)) {
            FlatBuffer.Vector types = database.vector("location types", 0, 1, MOST);
            FlatBuffer.Vector locations = database.vector("locations", 1, Integer.BYTES, MOST);
            List<String> names = List.of("NONE", "CallSiteLocDef", "FileLineColLocDef", "FusedLocDef", "NameLocDef");
            name("location_table_type");
            open('[');
            for (int i = 0; i < types.count(); i++) {
                next();
                int type = types.u8(i);
                quoted(type < names.size() ? names.get(type) : String.valueOf(type));
            }
            close(']');
            name("location_table");
            open('[');
            for (int i = 0; i < Math.min(types.count(), locations.count()); i++) {
                int type = types.u8(i);
                next();
                if (type == 0) {
                    out.print("null");
                } else {
                    object(locations.table(i), location -> location(location, type));
                }
            }
            close(']');
        }
        tables(database, "functions", 2, function -> {
            string(function, "local_name", 0);
            structs(function, "locations", 1, LOCATION_BYTES, (all, i) -> {
                number("bytecode_offset", all.i32(i, 0));
                number("location", all.i32(i, 4));
            });
        });
    }

    private void location(FlatBuffer.Table location, int type) {
        switch (type) {
            case 1 -> {
                signed(location, "callee", 0);
                signed(location, "caller", 1);
            }
            case 2 -> {
                string(location, "filename", 0);
                signed(location, "line", 1);
                signed(location, "column", 2);
            }
            case 3 -> {
                string(location, "metadata", 0);
                if (location.has("locations", 1)) {
                    FlatBuffer.Vector parts = location.vector("locations", 1, Integer.BYTES, MOST);
                    name("locations");
                    open('[');
                    for (int i = 0; i < parts.count(); i++) {
                        next();
                        out.print(parts.i32(i, 0));
                    }
                    close(']');
                }
            }
            case 4 -> {
                string(location, "name", 0);
                signed(location, "child_location", 1);
            }
            default -> {}
        }
    }

    // Fields.

    private void string(FlatBuffer.Table table, String field, int slot) {
        if (table.has(field, slot)) {
            name(field);
            quoted(table.string(field, slot));
        }
    }

    private void signed(FlatBuffer.Table table, String field, int slot) {
        if (table.has(field, slot)) {
            number(field, table.i32(field, slot, 0));
        }
    }

    private void unsigned(FlatBuffer.Table table, String field, int slot) {
        if (table.has(field, slot)) {
            number(field, Integer.toUnsignedLong(table.i32(field, slot, 0)));
        }
    }

    private void wide(FlatBuffer.Table table, String field, int slot) {
        if (table.has(field, slot)) {
            name(field);
            out.print(Long.toUnsignedString(table.i64(field, slot)));
        }
    }

    private void bits(FlatBuffer.Table table, String field, int slot, List<String> names) {
        if (table.has(field, slot)) {
            name(field);
            printBits(table.i32(field, slot, 0), names);
        }
    }

    /** Prints the names of the bits, or the number when a bit has no name. */
    private void printBits(int value, List<String> names) {
        if (value == 0 || value >>> names.size() != 0) {
            out.print(Integer.toUnsignedString(value));
            return;
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < names.size(); i++) {
            if ((value >>> i & 1) != 0) {
                text.append(text.isEmpty() ? "" : " ").append(names.get(i));
            }
        }
        quoted(text.toString());
    }

    private void bytes(FlatBuffer.Table table, String field, int slot) {
        if (!table.has(field, slot)) {
            return;
        }
        FlatBuffer.Vector bytes = table.vector(field, slot, 1, MOST);
        name(field);
        open('[');
        for (int i = 0; i < bytes.count(); i++) {
            next();
            out.print(bytes.u8(i));
        }
        close(']');
    }

    private void table(FlatBuffer.Table table, String field, int slot, Members members) {
        FlatBuffer.@Nullable Table inner = table.table(field, slot);
        if (inner != null) {
            name(field);
            object(inner, members);
        }
    }

    private void tables(FlatBuffer.Table table, String field, int slot, Members members) {
        if (!table.has(field, slot)) {
            return;
        }
        FlatBuffer.Vector all = table.vector(field, slot, Integer.BYTES, MOST);
        name(field);
        open('[');
        for (int i = 0; i < all.count(); i++) {
            next();
            object(all.table(i), members);
        }
        close(']');
    }

    /** A printer of a struct in a vector. */
    @FunctionalInterface
    private interface Struct {
        void print(FlatBuffer.Vector all, int index);
    }

    private void structs(FlatBuffer.Table table, String field, int slot, int size, Struct members) {
        if (!table.has(field, slot)) {
            return;
        }
        FlatBuffer.Vector all = table.vector(field, slot, size, MOST);
        name(field);
        open('[');
        for (int i = 0; i < all.count(); i++) {
            next();
            open('{');
            members.print(all, i);
            close('}');
        }
        close(']');
    }

    // JSON.

    private void object(FlatBuffer.Table table, Members members) {
        open('{');
        members.print(table);
        close('}');
    }

    private void number(String field, long value) {
        name(field);
        out.print(value);
    }

    private void name(String field) {
        next();
        quoted(field);
        out.print(pretty ? ": " : ":");
    }

    private void open(char bracket) {
        out.print(bracket);
        depth++;
        first = true;
    }

    private void close(char bracket) {
        depth--;
        if (!first) {
            newLine();
        }
        out.print(bracket);
        first = false;
    }

    private void next() {
        if (!first) {
            out.print(',');
        }
        newLine();
        first = false;
    }

    private void newLine() {
        if (pretty) {
            out.println();
            out.print("  ".repeat(depth));
        }
    }

    private void quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"', '\\' -> json.append('\\').append(c);
                case '\n' -> json.append("\\n");
                case '\t' -> json.append("\\t");
                case '\r' -> json.append("\\r");
                default -> {
                    if (c < ' ') {
                        json.append("\\u%04x".formatted((int) c));
                    } else {
                        json.append(c);
                    }
                }
            }
        }
        out.print(json.append('"'));
    }
}
