package io.github.iree4j.spring.observation;

import io.github.iree4j.api.NotForApplications;
import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** Documents the observations. */
@NotForApplications
public enum IreeObservationDocumentation implements ObservationDocumentation {
    /** A call of a function, until its results are available; includes waiting for fences and batches. */
    INVOCATION {
        @Override
        public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
            return DefaultInvocationObservationConvention.class;
        }

        @Override
        public KeyName[] getLowCardinalityKeyNames() {
            return LowCardinality.values();
        }

        @Override
        public KeyName[] getHighCardinalityKeyNames() {
            return HighCardinality.values();
        }

        @Override
        public String getPrefix() {
            return "iree";
        }
    };

    /** Tags of metrics and spans. */
    public enum LowCardinality implements KeyName {
        /** Name of the program in {@code iree.modules}. */
        MODULE("module"),
        /** Name of the function. */
        FUNCTION("function"),
        /** Name of the device. */
        DEVICE("device"),
        /** Status code of the call, such as OK or RESOURCE_EXHAUSTED. */
        OUTCOME("outcome"),
        /**
         * The party responsible for a failure, see {@link io.github.iree4j.spring.Fault}: caller, operator, model,
         * device or unknown; none for a success.
         */
        FAULT("fault");

        private final String key;

        LowCardinality(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }

    /** Tags of spans only. */
    public enum HighCardinality implements KeyName {
        /** Version of the program. */
        VERSION("iree.module.version"),
        /** Whether the caller's thread waits for the results. */
        BLOCKING("iree.blocking"),
        /** Number of the call in its process, as in {@code calls} of the endpoint and in recordings; none where no call began. */
        CALL("iree.call");

        private final String key;

        HighCardinality(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }
}
