package io.github.iree4j.vm.asm;

import io.github.iree4j.flatbuffer.FlatBufferWriter.Bytes;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Table;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Tables;
import io.github.iree4j.vm.asm.ModuleDraft.Function;
import io.github.iree4j.vm.asm.ModuleDraft.Located;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The debug database of a module: {@code DebugDatabaseDef} of IREE's {@code schemas/bytecode_module_def.fbs}. */
final class DebugTables {
    private static final int CALL_SITE = 1;
    private static final int FILE_LINE_COLUMN = 2;
    private static final int FUSED = 3;
    private static final int NAMED = 4;
    private static final int LOCATED_SIZE = 8;

    private final List<Table> functions = new ArrayList<>();
    private final List<Byte> kinds = new ArrayList<>();
    private final List<Table> locations = new ArrayList<>();
    private final Map<SourceText, Integer> indices = new HashMap<>();

    DebugTables(List<Function> written) {
        for (Function function : written) {
            List<Integer> map = new ArrayList<>();
            for (Located located : function.locations()) {
                map.add(located.offset());
                map.add(index(located.source()));
            }
            functions.add(new Table().text(0, function.name()).node(1, structs(map, LOCATED_SIZE)));
        }
    }

    Table root() {
        byte[] types = new byte[kinds.size()];
        for (int i = 0; i < types.length; i++) {
            types[i] = kinds.get(i);
        }
        return new Table()
                .node(0, new Bytes(types, 1, 4))
                .node(1, new Tables(locations))
                .node(2, new Tables(functions));
    }

    private int index(SourceText source) {
        Integer known = indices.get(source);
        if (known != null) {
            return known;
        }
        Table table = switch (source) {
            case SourceText.Place place ->
                new Table().text(0, place.file()).u32(1, place.line()).u32(2, place.column());
            case SourceText.Named named -> new Table().text(0, named.name()).u32(1, index(named.child()));
            case SourceText.CallSite site ->
                new Table().u32(0, index(site.callee())).u32(1, index(site.caller()));
            case SourceText.Fused fused ->
                new Table()
                        .node(1, structs(fused.parts().stream().map(this::index).toList(), Integer.BYTES));
        };
        kinds.add((byte)
                switch (source) {
                    case SourceText.Place _ -> FILE_LINE_COLUMN;
                    case SourceText.Named _ -> NAMED;
                    case SourceText.CallSite _ -> CALL_SITE;
                    case SourceText.Fused _ -> FUSED;
                });
        locations.add(table);
        indices.put(source, locations.size() - 1);
        return locations.size() - 1;
    }

    private static Bytes structs(List<Integer> words, int size) {
        ByteBuffer out = ByteBuffer.allocate(words.size() * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        words.forEach(out::putInt);
        return new Bytes(out.array(), size, 4);
    }
}
