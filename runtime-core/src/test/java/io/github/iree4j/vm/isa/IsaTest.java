package io.github.iree4j.vm.isa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import java.lang.reflect.Field;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class IsaTest {
    private static final Isa ISA = Isa.V17_0;

    @Test
    void everyOperationHasARowAndIsFoundByNumberAndName() throws Exception {
        Set<Integer> seen = new HashSet<>();
        for (Field field : Op.class.getFields()) {
            if (field.getName().equals("COUNT") || field.getName().startsWith("FIRST_")) {
                continue;
            }
            int op = field.getInt(null);
            assertThat(seen.add(op))
                    .as("%s has a separate number", field.getName())
                    .isTrue();
            Opcode opcode = Objects.requireNonNull(ISA.opcode(op), field.getName());
            assertThat(opcode.mnemonic().toUpperCase(java.util.Locale.ROOT).replace('.', '_'))
                    .isEqualTo(field.getName());
            assertThat(ISA.opcode(opcode.set(), opcode.number())).isSameAs(opcode);
            assertThat(ISA.opcode(opcode.mnemonic())).isSameAs(opcode);
        }
        assertThat(seen).hasSize(Op.COUNT);
        assertThat(ISA.opcodes()).hasSize(Op.COUNT);
    }

    @Test
    void prefixesAreNotOpcodes() {
        for (OpcodeSet set : OpcodeSet.values()) {
            int prefix = ISA.prefix(set);
            if (set == OpcodeSet.CORE) {
                assertThat(prefix).isNegative();
            } else {
                assertThat(ISA.setOf(prefix)).isEqualTo(set);
                assertThat(ISA.opcode(OpcodeSet.CORE, prefix)).isNull();
            }
        }
    }

    @Test
    void versionIsFoundByMajorAndAnyLowerMinor() {
        assertThat(Isa.find(17, 0)).isSameAs(ISA);
        assertThat(Isa.find(17, 1)).isNull();
        assertThat(Isa.find(16, 0)).isSameAs(Isa.V16_0);
        assertThat(Isa.find(15, 0)).isSameAs(Isa.V15_0);
        assertThat(Isa.find(15, 1)).isNull();
        assertThat(Isa.find(14, 0)).isNull();
        assertThat(Isa.find(18, 0)).isNull();
    }

    @Test
    void versionsDifferByTheOperationsAddedByTheirCompilers() {
        assertThat(added(Isa.V15_0, Isa.V16_0)).containsExactlyInAnyOrder("discard.refs", "assign.ref");
        assertThat(added(Isa.V16_0, Isa.V17_0)).containsExactlyInAnyOrder("call.yieldable", "call.variadic.yieldable");
        assertThat(Isa.V16_0.features()).isEqualTo(FeatureBits.EXT_F32 | FeatureBits.EXT_F64);
        assertThat(Isa.V15_0.movesEverywhere()).isFalse();
        assertThat(Isa.V16_0.movesEverywhere()).isTrue();
    }

    private static Set<String> added(Isa older, Isa newer) {
        Set<String> names = new HashSet<>();
        for (Opcode opcode : newer.opcodes()) {
            Opcode before = older.opcode(opcode.set(), opcode.number());
            if (before == null) {
                names.add(opcode.mnemonic());
            } else {
                assertThat(before).isEqualTo(opcode);
            }
        }
        assertThat(older.opcodes()).hasSize(newer.opcodes().size() - names.size());
        return names;
    }

    @Test
    void movesIgnoredByVersion15AreIgnored() {
        // call import 1 (%R2) -> (%R3); cmp.nz.ref %R1 -> %i0
        byte[] body = {
            (byte) number("call"),
            1,
            0,
            0,
            (byte) 0x80,
            0,
            1,
            0,
            2,
            (byte) 0xC0,
            1,
            0,
            3,
            (byte) 0xC0, //
            (byte) number("cmp.nz.ref"),
            1,
            (byte) 0xC0,
            0,
            0, //
            (byte) number("return"),
            1,
            0,
            1,
            (byte) 0xC0
        };
        InstructionReader reader = new InstructionReader(Isa.V15_0, body);
        assertThat(reader.next()).isTrue();
        assertThat(reader.item(1, 0)).as("argument of an import").isEqualTo(0x8002);
        assertThat(reader.next()).isTrue();
        assertThat(reader.register(0)).as("single register").isEqualTo(0x8001);
        assertThat(reader.next()).isTrue();
        assertThat(reader.item(0, 0)).as("result of a return").isEqualTo(0xC001);

        for (InstructionReader other :
                new InstructionReader[] {new InstructionReader(ISA, body), InstructionReader.verbatim(Isa.V15_0, body)
                }) {
            assertThat(other.next()).isTrue();
            assertThat(other.item(1, 0)).isEqualTo(0xC002);
            assertThat(other.next()).isTrue();
            assertThat(other.register(0)).isEqualTo(0xC001);
        }
    }

    @Test
    void theReaderReturnsTheFieldsOfATable() {
        // br_table %i3, default 0x10 (1->2), cases 0x20 () and 0x30 (0x8001->0x8002)
        byte[] body = {
            (byte) number("br_table"),
            3,
            0,
            0x10,
            0,
            0,
            0,
            0,
            1,
            0,
            1,
            0,
            2,
            0,
            2,
            0,
            0x20,
            0,
            0,
            0,
            0,
            0,
            0x30,
            0,
            0,
            0,
            1,
            0,
            1,
            (byte) 0x80,
            2,
            (byte) 0x80
        };
        InstructionReader reader = new InstructionReader(ISA, body);
        assertThat(reader.next()).isTrue();
        assertThat(reader.opcode().op()).isEqualTo(Op.BR_TABLE);
        assertThat(reader.opcode().isTerminator()).isTrue();
        assertThat(reader.register(0)).isEqualTo(3);
        assertThat(reader.i32(1)).isEqualTo(0x10);
        assertThat(reader.count(2)).isEqualTo(1);
        assertThat(reader.source(2, 0)).isEqualTo(1);
        assertThat(reader.destination(2, 0)).isEqualTo(2);
        assertThat(reader.count(3)).isEqualTo(2);
        assertThat(reader.caseTarget(0)).isEqualTo(0x20);
        assertThat(reader.caseCount(0)).isZero();
        assertThat(reader.caseTarget(1)).isEqualTo(0x30);
        assertThat(reader.caseSource(1, 0)).isEqualTo(0x8001);
        assertThat(reader.caseDestination(1, 0)).isEqualTo(0x8002);
        assertThat(reader.next()).isFalse();
        assertThat(reader.offset()).isEqualTo(body.length);
    }

    @Test
    void everyTruncationOfAnInstructionIsDetected() {
        byte[] body = {(byte) number("fail"), 0, 0, 3, 0, 'b', 'a', 'd'};
        InstructionReader whole = new InstructionReader(ISA, body);
        assertThat(whole.next()).isTrue();
        assertThat(whole.string(1)).isEqualTo("bad");
        for (int length = 1; length < body.length; length++) {
            InstructionReader reader = new InstructionReader(ISA, java.util.Arrays.copyOf(body, length));
            assertThatExceptionOfType(IreeException.class)
                    .as("%d bytes", length)
                    .isThrownBy(reader::next)
                    .withMessageContaining("does not fit a function of " + length + " bytes");
        }
    }

    private static int number(String mnemonic) {
        return Objects.requireNonNull(ISA.opcode(mnemonic)).number();
    }
}
