package io.github.iree4j.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The JVM's layout of a process's fields. */
class ProcessLayoutTest {
    private static final int APART = 128;

    /** A subclass with a field, to check the distance from the fields of scanners, signallers and drainers. */
    private static class Sub extends TestProcess {
        @SuppressWarnings("unused")
        int ofTheSubclass;

        Sub() {
            super(ProcessOptions.named("p"), worker -> DrainResult.COMPLETED);
        }
    }

    @Test
    void fieldsOfDifferentWritersAreTwoCacheLinesApart() throws ReflectiveOperationException {
        Map<Long, String> written = new TreeMap<>();
        put(written, ProcessIdentity.class, "options");
        put(written, ProcessActivation.class, "activation");
        put(written, ProcessSchedule.class, "word");
        put(written, TestProcess.class, "drains");
        Long before = null;
        for (Map.Entry<Long, String> field : written.entrySet()) {
            if (before != null) {
                assertThat(field.getKey() - before)
                        .as("%s after %s", field, written)
                        .isGreaterThanOrEqualTo(APART);
            }
            before = field.getKey();
        }
        assertThat(offset(ProcessSchedule.class, "budget") - offset(ProcessSchedule.class, "word"))
                .as("drainers write the budget and the word")
                .isBetween(-8L, 8L);
        assertThat(offset(Sub.class, "ofTheSubclass") - offset(ProcessSchedule.class, "word"))
                .isGreaterThanOrEqualTo(APART);
    }

    private static void put(Map<Long, String> written, Class<?> type, String field)
            throws ReflectiveOperationException {
        written.put(offset(type, field), field);
    }

    /** No public API reports offsets; this method is deprecated, hence the reflection. */
    private static long offset(Class<?> type, String field) throws ReflectiveOperationException {
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field instance = unsafe.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        Method offset = unsafe.getMethod("objectFieldOffset", Field.class);
        return (long) offset.invoke(instance.get(null), type.getDeclaredField(field));
    }
}
