package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Effort;
import io.github.iree4j.Fixtures;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;

/** Checks of modules inside zip files, written by IREE's compiler or by the JDK. */
class ZipMembersTest {
    private static final String COMPILED = "3.13.0/cpu-debug/add.vmfb";
    private static final int ENTRY = 0x0201_4B50; // the signature of an entry of the list

    @Test
    void everyMemberOfACompiledFileIsComparedWithItsChecksum() throws Exception {
        byte[] file = Files.readAllBytes(Fixtures.file(COMPILED));
        ModuleBytes.copyOf("as it is", file).close();
        int members = 0;
        try (ZipFile zip = new ZipFile(Fixtures.file(COMPILED).toFile())) {
            for (ZipEntry each : List.copyOf(Collections.list(zip.entries()))) {
                byte[] content;
                try (InputStream in = zip.getInputStream(each)) {
                    content = in.readAllBytes();
                }
                int at = Math.toIntExact(find(file, content)) + content.length / 2;
                byte[] damaged = file.clone();
                damaged[at] ^= 4;
                assertDamaged(damaged, "has CRC-32");
                members++;
            }
        }
        assertThat(members).isGreaterThan(1);
    }

    @Test
    void truncationWithinAMemberIsReported() throws Exception {
        byte[] file = Files.readAllBytes(Fixtures.file(COMPILED));
        assertDamaged(Arrays.copyOf(file, file.length / 2), "it is truncated");
    }

    @Test
    void zerosOverTheEndOfAMemberAndItsEntryInTheListAreReported() throws Exception {
        byte[] compiled = Files.readAllBytes(Fixtures.file(COMPILED));
        for (byte[] file : List.of(compiled, zip(List.of(new byte[] {1, 2, 3}, new byte[] {4, 5, 6})))) {
            int last = lastIndexOf(file, ENTRY);
            for (int entry = 0; entry <= last; entry++) {
                if (intAt(file, entry) == ENTRY) {
                    byte[] damaged = file.clone();
                    Arrays.fill(damaged, entry - 2, entry + 4, (byte) 0); // of an unwritten block
                    assertDamaged(damaged, "without a complete list of its members");
                }
            }
        }
    }

    @Test
    void sizesOf32BitsAreReadToo() throws Exception {
        byte[] first = "the first member".getBytes(StandardCharsets.UTF_8);
        byte[] second = new byte[1000];
        byte[] file = zip(List.of(first, second));
        ModuleBytes.copyOf("zip", file).close();
        byte[] damaged = file.clone();
        damaged[find(file, second) + 999] = 1;
        assertDamaged(damaged, "of 1000 bytes, has CRC-32");
    }

    @Test
    void changedBytesCauseNoReadsOutsideOfTheFile() throws Exception {
        long seed = Effort.seed(ZipMembersTest.class, "2000 damaged zips", 1);
        Random random = new Random(seed);
        byte[] compiled = Files.readAllBytes(Fixtures.file(COMPILED));
        int directory = lastIndexOf(compiled, ENTRY);
        int refused = 0;
        for (int i = 0; i < 2000; i++) {
            byte[] file = compiled.clone();
            for (int n = 1 + random.nextInt(3); n > 0; n--) {
                int at = directory + random.nextInt(file.length - directory);
                file[at] = (byte) (random.nextBoolean() ? 0xFF : random.nextInt());
            }
            try {
                ModuleBytes.copyOf("m.vmfb", file).close();
            } catch (IreeException e) {
                assertThat(e.code()).as("seed %d", seed).isEqualTo(StatusCode.DATA_LOSS);
                refused++;
            }
        }
        assertThat(refused).isPositive();
    }

    private static int lastIndexOf(byte[] file, int signature) {
        for (int at = file.length - 4; ; at--) {
            if (intAt(file, at) == signature) {
                return at;
            }
        }
    }

    private static int intAt(byte[] file, int at) {
        return ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).getInt(at);
    }

    private static byte[] zip(List<byte[]> members) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            zip.setMethod(ZipOutputStream.STORED);
            List<byte[]> all = new ArrayList<>(members);
            for (int i = 0; i < all.size(); i++) {
                ZipEntry entry = new ZipEntry("member" + i);
                CRC32 sum = new CRC32();
                sum.update(all.get(i));
                entry.setSize(all.get(i).length);
                entry.setCrc(sum.getValue());
                zip.putNextEntry(entry);
                zip.write(all.get(i));
            }
        }
        return bytes.toByteArray();
    }

    private static int find(byte[] file, byte[] part) {
        for (int at = 0; at <= file.length - part.length; at++) {
            if (Arrays.equals(file, at, at + part.length, part, 0, part.length)) {
                return at;
            }
        }
        throw new AssertionError("not in the file");
    }

    private static void assertDamaged(byte[] file, String message) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> ModuleBytes.copyOf("m.vmfb", file))
                .withMessageContaining("module file 'm.vmfb'")
                .withMessageContaining(message)
                .matches(e -> e.code() == StatusCode.DATA_LOSS);
    }
}
