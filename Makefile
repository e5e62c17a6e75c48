# ninodes. One non-recursive Makefile; everything built goes under $(B).
#
#   make                 library, CLI, app        make check       all tests (make check-long: the long ones too)
#   make demo            a picture and a clip     make bench       speed, as ratios against other libraries
#   make lint            style and static checks  make format      rewrite with clang-format
#   make soak N=3000     mixed jobs in one process        make reliability   the table of the last check-long, soak, ... [NOTE='...']
#   make check-tsan      what threads share, under ThreadSanitizer
#   make check-unit      tests of one kind: check-performance (costs, counted), check-integration, check-regression
#   make fuzz FUZZ=json TIME=60   a parser under libFuzzer (ENGINE=afl: AFL++); FUZZ=all: every one in turn
#   make install DESTDIR=... PREFIX=/usr          make uninstall   with the same: takes away what that put there
#   make deps            install the Debian packages that are missing
#   make pot             take the app's texts anew into data/po, after one of them changed
#   make doc             fill the generated parts of README.md and data/doc anew, and data/nodes.md
#   make docs            the API as pages, in $(B)/docs    make abi   keep the library's ABI as it is now
#   make GUI=0 CL=0      leave parts out (CLBLAST=0: only that library)
#   make SANITIZE=address,undefined check
#   make sbom            what the programs are made of, as SPDX, in $(B)/ninodes.spdx.json
#   make wheel           the Python package, in $(B)/wheel
#   make deb             Debian packages, in $(B)/deb
#   make WERROR=1        warnings are errors      make V=1         show commands
#
# Personal settings (CC=clang, WERROR=1, ...) go in config.mk, which git ignores.
-include config.mk

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
DATADIR ?= $(PREFIX)/share
INCLUDEDIR ?= $(PREFIX)/include
UNITDIR ?= $(PREFIX)/lib/systemd/user
PKG_CONFIG ?= pkg-config
CFLAGS ?= -O2 -g
GUI ?= 1
CL ?= 1
CLBLAST ?= $(CL)
VERSION := 0.1.0
SOVERSION := 2

# An install may stand anywhere, also below DESTDIR: its parts find each other by the way from one to the next. Those
# that know such a way are made anew only when that has changed.
way = $(shell realpath -m --relative-to='$(1)' '$(2)')
lib_to_data := $(call way,$(LIBDIR),$(DATADIR))
bin_to_data := $(call way,$(BINDIR),$(DATADIR))
bin_to_lib := $(call way,$(BINDIR),$(LIBDIR))
RPATH = -Wl,-rpath,'$$ORIGIN' -Wl,-rpath,'$$ORIGIN/$(bin_to_lib)'

# ---- packages: the only list ------------------------------------------------------------------
DEPS_core := gcc libc6-dev pkg-config libpng-dev libjpeg62-turbo-dev libwebp-dev zlib1g-dev libavformat-dev libswscale-dev libxxhash-dev libutf8proc-dev libpcre2-dev libyaml-dev libfreetype-dev libfontconfig-dev
DEPS_cli := libncurses-dev libwebsockets-dev libhiredis-dev
DEPS_cl := ocl-icd-opencl-dev opencl-headers ocl-icd-libopencl1 pocl-opencl-icd nettle-dev
DEPS_clblast := libclblast-dev
DEPS_gui := libgtk-4-dev libcairo2-dev libglib2.0-dev-bin gettext
# What the tests and `make lint` use beyond that; a missing one only skips its tests.
DEPS_test := python3 g++ ffmpeg redis-server
DEPS_test_long := chromium mmdebstrap parallel openmpi-bin slurm-wlm munge mesa-opencl-icd
DEPS_test_gui := xvfb dbus dbus-user-session at-spi2-core fonts-dejavu-core adwaita-icon-theme \
	librsvg2-common imagemagick xdotool weston libgl1-mesa-dri
DEPS_lint := clang-format-14 clang-tidy-14 clang-14 cppcheck git abigail-tools
DEPS_docs := doxygen
DEPS_deb := build-essential debhelper dh-python lintian
DEPS_gate := clang-19 lld-19 llvm-19 rocm-device-libs oclgrind
DEPS_coverage := gcovr
DEPS_fuzz := clang-14 llvm-14 $(if $(filter afl,$(ENGINE)),afl++)
DEPS_bench := libopenblas-dev libdnnl-dev
DEPS := $(DEPS_core) $(DEPS_cli) $(if $(filter 1,$(CL)),$(DEPS_cl)) $(if $(filter 11,$(CL)$(CLBLAST)),$(DEPS_clblast)) $(if $(filter 1,$(GUI)),$(DEPS_gui))
DEPS_check := $(DEPS) $(DEPS_test) $(if $(filter 1,$(GUI)),$(DEPS_test_gui))

# A build with other flags gets another folder, so objects never mix.
comma := ,
flavour := $(if $(SANITIZE),-$(subst $(comma),+,$(SANITIZE)))$(if $(COVERAGE),-coverage)$(if $(filter 0,$(CL)),-nocl,$(if $(filter 0,$(CLBLAST)),-noclblast))$(if $(filter 0,$(GUI)),-nogui)
B ?= build$(flavour)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wvla -Wwrite-strings -Wundef -Wformat=2 $(if $(WERROR),-Werror)
# No path of the build is in what is built: the same sources give the same bytes in every folder.
BASE := -std=c11 -D_GNU_SOURCE -DNINO_VERSION=\"$(VERSION)\" -ffile-prefix-map=$(CURDIR)=. \
	-fvisibility=hidden -fPIC -pthread $(WARN)
# What stands in the way of whoever finds an overflow: marks behind arrays on the stack, lengths that are checked where
# they are known, tables that are read-only once the program is loaded (tests/fault/hardened.sh). HARDEN= leaves it out.
HARDEN ?= -fstack-protector-strong -fstack-clash-protection $(if $(filter x86_64,$(shell uname -m)),-fcf-protection) \
	$(if $(SANITIZE)$(COVERAGE),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
BASE += $(HARDEN)
LDFLAGS += $(if $(HARDEN),-Wl$(comma)-z$(comma)relro -Wl$(comma)-z$(comma)now)
ifdef SANITIZE
BASE += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS += -fsanitize=$(SANITIZE)
export LSAN_OPTIONS := suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0
endif
ifdef COVERAGE
BASE += --coverage -fprofile-update=atomic
CFLAGS = -O0 -g
LDFLAGS += --coverage
endif

core_SRC := $(sort $(wildcard core/*/*.c core/*/*/*.c))
ifeq ($(CL),1)
# The schedules and the forms of the shared kernels that they take: core/op/sched_list.h.
schedules := $(shell sed -n 's/^SCHEDULE.\([a-z0-9_]*\), *\(SCHED_[A-Z0-9_]*\).*/\1:\2/p' core/op/sched_list.h)
schedule_DIRS := $(foreach s,$(schedules),cl/$(firstword $(subst :, ,$(s))))
kernel_FILES := $(wildcard cl/kernels/*.cl $(addsuffix /*.cl,$(schedule_DIRS)))
cl_SRC := $(filter-out cl/clblast$(if $(filter 1,$(CLBLAST)),_none).c,$(sort $(wildcard cl/*.c $(addsuffix /*.c,$(schedule_DIRS)))))
core_SRC := $(filter-out core/op/device/device_none.c,$(core_SRC))
endif
cli_SRC := $(sort $(wildcard cli/*.c cli/*/*.c))
gui_SRC := $(if $(filter 1,$(GUI)),$(sort $(wildcard gui/*.c gui/*/*.c)))
# Each of these files is one test program.
unit_SRC := $(sort $(wildcard tests/unit/*/*.c))
fault_SRC := $(sort $(wildcard tests/fault/*.c))
golden_SRC := $(sort $(wildcard tests/golden/*.c))
workflow_SRC := $(sort $(wildcard tests/workflow/*.c tests/e2e/*.c))
performance_SRC := $(sort $(wildcard tests/performance/*.c))
example_SRC := $(sort $(wildcard tests/examples/*.c))
kernel_SRC := $(sort $(wildcard tests/check/*.c))
# Each of these is linked with what replays and mutates inputs, and lets memory run out.
fuzz_DRIVER := tests/fuzz/main.c tests/fuzz/outcome.c tests/fuzz/shortage.c
fuzz_SRC := $(filter-out $(fuzz_DRIVER),$(sort $(wildcard tests/fuzz/*.c)))
bench_SRC := $(sort $(wildcard bench/*.c))
ifneq ($(CL),1)
unit_SRC := $(filter-out tests/unit/cl/%,$(unit_SRC))
fault_SRC := $(filter-out tests/fault/device.c,$(fault_SRC))
endif
# Programs that test widgets or help scripts; tests/gui/test_*.sh starts them on a display of its own. tests/gui/story has
# the app used as people do: keys, pointer, what a screen reader sees.
gui_test_SRC := $(if $(gui_SRC),$(sort $(wildcard tests/gui/program/*.c)))
test_SRC := $(unit_SRC) $(fault_SRC) $(golden_SRC) $(workflow_SRC) $(performance_SRC) $(kernel_SRC) $(fuzz_SRC)
script_SRC := $(sort $(wildcard tests/cli/*.sh tests/cluster/*.sh tests/fault/*.sh) $(if $(filter 1,$(GUI)),$(wildcard tests/gui/test_*.sh tests/gui/*/test_*.sh)))
# Minutes of work each, so only check-long starts them.
long_SRC := tests/golden/full_vae.c tests/workflow/obs_cost.c tests/cli/add_counter.sh \
	tests/cluster/launchers.sh
# The longest of check-long, begun first: what begins last is not to run alone.
slow_SRC := tests/fault/programs_driver.sh tests/fault/device.c tests/fault/programs.sh tests/unit/run/changed.c \
	tests/cli/deb.sh tests/unit/node/any_values.c tests/fuzz/queue.c tests/cli/selftest.sh tests/fault/allocations.c \
	tests/e2e/taesd_e2e.c tests/cli/shard.sh tests/cli/same_bits.sh tests/cli/gate_gfx1151.sh tests/e2e/e2e_qwen.c \
	tests/cli/oclgrind.sh tests/cli/bench.sh tests/fault/studio.sh tests/golden/vae_tiny.c tests/workflow/obs_cost.c \
	tests/unit/run/plan_runs.c tests/cli/abi.sh tests/cli/rusticl.sh tests/cli/add_counter.sh tests/fault/limits.sh
header_SRC := $(sort $(wildcard core/include/ninodes/*.h))
# Each of these is a language of the app.
po_DIR := data/po
po_SRC := $(if $(gui_SRC),$(sort $(wildcard $(po_DIR)/*.po)))
mo_OUT := $(patsubst $(po_DIR)/%.po,$(B)/locale/%/LC_MESSAGES/ninodes.mo,$(po_SRC))

obj = $(patsubst %.c,$(B)/%.o,$(1))
bin = $(patsubst %.c,$(B)/%,$(1))
lib_OBJ := $(call obj,$(core_SRC) $(cl_SRC))
# Each example as C11 and, where there is a compiler, as C++17.
examples := $(call bin,$(example_SRC)) $(if $(shell command -v $(CXX)),$(addsuffix -cxx,$(call bin,$(example_SRC))))
tests_ALL := $(call bin,$(unit_SRC) $(fault_SRC) $(kernel_SRC) $(fuzz_SRC) $(golden_SRC) $(workflow_SRC) $(performance_SRC)) $(examples) $(script_SRC)
headers_OK := $(patsubst core/include/%.h,$(B)/headers/%.ok,$(header_SRC))

# Who may include what. core/ and cl/ see the tree, in the order of core/LAYERS (lint-layers); cli/,
# gui/ and tests/examples see only the public headers, so an include of an internal one does not
# compile (tests/cli/layers.sh tries it).
public := -Icore/include
$(B)/core/%.o: INC := -I. $(public)
$(B)/cl/%.o: INC := -I. $(public)
font_CFLAGS := $(subst -I,-isystem ,$(shell $(PKG_CONFIG) --cflags freetype2 fontconfig 2>/dev/null))
$(B)/core/media/glyphs.o: INC += $(font_CFLAGS)
# Names of a schedule carry that of its folder.
$(foreach d,$(schedule_DIRS),$(eval $(B)/$(d)/%.o: INC += -DSCHEDULE=$(notdir $(d))))
$(B)/tests/%.o $(B)/bench/%.o: INC := -I. $(public)
$(B)/tests/examples/%.o: INC := $(public)
$(B)/cli/%.o: INC := $(public) -Icli
ifeq ($(GUI),1)
gtk_CFLAGS = $(subst -I,-isystem ,$(shell $(PKG_CONFIG) --cflags gtk4))
gtk_LIBS = $(shell $(PKG_CONFIG) --libs gtk4)
endif
$(B)/gui/%.o: INC = $(public) -Igui -I$(B)/gui $(gtk_CFLAGS)
$(B)/tests/gui/%.o: INC = $(public) -Igui -I$(B)/gui -I. $(gtk_CFLAGS)
# Objects are made anew when what they are compiled with has changed.
flags_NOW := $(HARDEN) $(CFLAGS) $(CPPFLAGS)
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(flags_NOW)' | cmp -s - $@ || echo '$(flags_NOW)' > $@
# Sampling follows another library's rounding; its loops vectorise without errno.
$(B)/core/sample/%.o: CFLAGS += -O3 -ffp-contract=off -fno-math-errno
# Reference code must stay plain: no contraction, no reordering.
$(B)/core/op/ref/%.o: CFLAGS += -O3 -ffp-contract=off
core_LIBS := -lpng -ljpeg -lwebp -lwebpdemux -lwebpmux -lz -lxxhash -lutf8proc -lpcre2-8 -lyaml -lfreetype -lfontconfig -lm -ldl
lib_LIBS := $(core_LIBS) $(if $(filter 1,$(CL)),-lnettle)

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-6s %s\n' $(1) $(2))

.PHONY: all isa doc docs abi lint-abi lint-deps sbom pot lint-layers lint-text lint-kernels lint-static check check-all check-core check-long check-unit check-performance check-integration check-regression check-bugs list-tests check-tsan check-races check-valgrind check-memory check-headers soak reliability coverage coverage-run fuzz fuzz-run tests bench bench-all lint format install uninstall stage FORCE shots plans phases budgets clocks tuned code-objects tiles clean deps deps-check deps-long deps-lint deps-bench demo
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all
all: $(B)/libninodes.so $(B)/libninodes.a $(B)/ninodes $(if $(gui_SRC),$(B)/ninodes-studio) $(mo_OUT)

# ---- packages ---------------------------------------------------------------------------------
# $(call install,LIST): installs what is missing, as root or through sudo, or says what to type.
define install_packages
@miss=; for p in $(1); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || miss="$$miss $$p"; done; \
if [ -n "$$miss" ]; then \
  cmd="apt-get install -y --no-install-recommends$$miss"; \
  if ! command -v apt-get >/dev/null; then echo "missing packages:$$miss (this list is for Debian 12)" >&2; exit 1; fi; \
  if [ "$$(id -u)" = 0 ]; then sudo=; elif sudo -n true 2>/dev/null || { [ -t 0 ] && command -v sudo >/dev/null; }; then sudo=sudo; \
  else echo "missing packages; type:  sudo $$cmd" >&2; exit 1; fi; \
  echo "  DEPS  $$miss"; \
  { $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo $$cmd >/dev/null; } || { echo "could not install; type:  sudo $$cmd" >&2; exit 1; }; \
fi
endef
deps:
	$(call install_packages,$(DEPS))
deps-check:
	$(call install_packages,$(DEPS_check))
deps-long:
	$(call install_packages,$(DEPS_check) $(DEPS_test_long))
deps-lint:
	$(call install_packages,$(DEPS_check) $(DEPS_lint) $(DEPS_gate))
deps-bench:
	$(call install_packages,$(DEPS) $(DEPS_bench))

# ---- building ---------------------------------------------------------------------------------
$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(INC) $(CPPFLAGS) -MMD -MP -c $< -o $@
$(B)/tests/fault/calls.o: CPPFLAGS += $(if $(COVERAGE),-DCOUNTS_BRANCHES)

# .incbin is invisible to -MMD
$(B)/cl/kernels.o: $(wildcard cl/kernels/*.cl)
$(foreach d,$(schedule_DIRS),$(eval $(B)/$(d)/host.o: $(wildcard $(d)/*.cl)))
$(B)/core/op/profile_data.o: $(wildcard data/devices/*.json)
$(B)/core/harness/tune_shipped.o: $(wildcard data/tune/*.json)
$(B)/core/media/label.o: data/labels/sans.png
$(B)/core/serve/user.o: data/serve/page.html
$(B)/core/node/table/known.o: data/known_classes.txt

$(B)/libninodes.a: $(lib_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/libninodes.so: $(lib_OBJ) core/libninodes.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libninodes.so.$(SOVERSION) \
		-Wl,--version-script=core/libninodes.map $(if $(SANITIZE),,-Wl,--no-undefined) $(lib_OBJ) $(lib_LIBS) -o $@
	$(Q)ln -sf libninodes.so $@.$(SOVERSION)

# The ways between the parts of an install, rewritten when they are others.
$(B)/ways: FORCE
	@mkdir -p $(@D)
	@echo '$(lib_to_data) $(bin_to_data) $(bin_to_lib)' | cmp -s - $@ || echo '$(lib_to_data) $(bin_to_data) $(bin_to_lib)' > $@
FORCE:
$(B)/core/base/install.o $(B)/cli/cmd_demo.o $(B)/gui/base/i18n.o $(B)/ninodes $(B)/ninodes-studio: $(B)/ways
$(B)/core/base/install.o: INC += -DNINO_DATA_FROM_LIB=\"$(lib_to_data)\"
$(B)/cli/cmd_demo.o $(B)/gui/base/places.o: INC += -DNINO_DATA_FROM_BIN=\"$(bin_to_data)\"

$(B)/ninodes: $(call obj,$(cli_SRC)) $(B)/libninodes.so
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) -L$(B) -lninodes -lncursesw -lwebsockets -lhiredis -lpng -lm -Wl,--export-dynamic-symbol=sigaction $(RPATH) -o $@

# .ui templates, compiled into the app
gui_RES := $(if $(gui_SRC),$(B)/gui/resources.o)
$(B)/gui/resources.c: gui/ninodes-studio.gresource.xml $(wildcard gui/*/*.ui gui/*/*.css)
	@mkdir -p $(@D)
	$(call say,RES,$<)
	$(Q)glib-compile-resources --sourcedir=gui --generate-source --target=$@ $<
$(B)/gui/resources.o: $(B)/gui/resources.c
	$(Q)$(CC) -std=gnu11 -fPIC $(CFLAGS) $(gtk_CFLAGS) -c $< -o $@

$(B)/ninodes-studio: $(call obj,$(gui_SRC)) $(gui_RES) $(B)/libninodes.so
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) -L$(B) -lninodes $(RPATH) $(gtk_LIBS) -lm -o $@

# Beside the program, where it looks first.
$(B)/locale/%/LC_MESSAGES/ninodes.mo: $(po_DIR)/%.po
	@mkdir -p $(@D)
	$(call say,MSGFMT,$<)
	$(Q)msgfmt --check -o $@ $<

$(call bin,$(fuzz_SRC)): $(call obj,$(fuzz_DRIVER))
$(call bin,$(fuzz_SRC)): LDFLAGS += $(addprefix -Wl$(comma)--wrap=,exit nino_buf_add nino_buf_adds nino_buf_addc)
# These make allocations fail (tests/oom.h, tests/unit/oom/arena.h).
$(call bin,$(patsubst %,tests/unit/oom/%.c,document flows format graph paths text) $(fuzz_SRC)): LDFLAGS += $(addprefix -Wl$(comma)--wrap=,nino_arena_alloc nino_arena_strndup nino_arena_strdup)
$(call bin,$(filter tests/unit/oom/%,$(unit_SRC)) $(fuzz_SRC) tests/fault/allocations.c): LDFLAGS += $(addprefix -Wl$(comma)--wrap=,malloc calloc realloc strdup strndup aligned_alloc posix_memalign free pthread_create mmap)
# Another process sweeps as this one is about to rename.
$(B)/tests/unit/base/file_swept: LDFLAGS += $(addprefix -Wl$(comma)--wrap=,renameat renameat2)
# This one counts how often nodes ask whether they are cancelled.
$(B)/tests/unit/node/cancel: LDFLAGS += -Wl,--wrap=nino_node_cancelled
# This one sees a file change while it is opened.
$(B)/tests/unit/file/weights_edges: LDFLAGS += -Wl,--wrap=fstat
# This one is told what is asked of the page cache.
$(B)/tests/unit/file/weights_ahead: LDFLAGS += $(addprefix -Wl$(comma)--wrap=,posix_fadvise)
# This one lets system calls of a socket fail, and puts the clock forward.
$(B)/tests/unit/monitor/serve_edges: LDFLAGS += $(addprefix -Wl$(comma)--wrap=,socket fchmod bind listen eventfd accept4 getsockopt fstat mkdir clock_gettime)
# This one hears what plans launch.
$(B)/tests/unit/run/real_programs: LDFLAGS += -Wl,--wrap=nino_device_program_lister
$(call bin,$(test_SRC)): $(B)/%: $(B)/%.o $(B)/libninodes.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) $(lib_LIBS) -o $@

# What fault tests put beside a program: a layer below OpenCL, a link that is read late, and who runs it under ptrace.
$(B)/tests/fault/tool/%.so: tests/fault/tool/%.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -fsanitize=%,$(BASE)) $(CFLAGS) -I. -MMD -MP -MF $(@:.so=.d) -shared $< -o $@
$(B)/tests/fault/device $(B)/tests/fault/soak: | $(if $(filter 1,$(CL)),$(B)/tests/fault/tool/cl_layer.so)
$(B)/tests/fault/tool/inject: $(B)/tests/fault/tool/inject.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) $< -o $@
# An OpenCL driver over the interpreter of gfx1151's instructions.
isa_DRIVER := $(if $(filter 1,$(CL)),$(B)/tests/gate/isa/libOpenCL.so.1)
$(B)/tests/gate/isa/libOpenCL.so.1: $(sort $(wildcard tests/gate/isa/*.[ch]))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -fsanitize=% -fvisibility=hidden,$(BASE)) $(CFLAGS) -I. -shared $(filter %.c,$^) -lm -o $@
# The code objects that are shipped, and kernels of the self-test, instruction by instruction; table: bench/results/isa-gfx1151.md.
isa: $(B)/ninodes $(isa_DRIVER) code-objects
	$(Q)B=$(B) python3 tests/gate/isa.py --code $(code_DIR)/.. $(B)/code-sources/gfx1151 --quick >$(B)/isa-gfx1151.md && cp $(B)/isa-gfx1151.md bench/results/isa-gfx1151.md
fault_TOOLS := $(isa_DRIVER) $(B)/tests/fault/tool/inject $(B)/tests/fault/tool/late_link.so $(if $(filter 1,$(CL)),$(B)/tests/fault/tool/cl_layer.so)

# The same targets with the engine in place of fuzz_DRIVER.
$(B)/engine/%: $(B)/tests/fuzz/%.o $(B)/libninodes.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer $^ $(lib_LIBS) -o $@

$(call bin,$(gui_test_SRC)): $(B)/%: $(B)/%.o $(filter-out $(B)/gui/main.o,$(call obj,$(gui_SRC))) $(gui_RES) $(B)/libninodes.so
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) -L$(B) -lninodes -Wl,-rpath,'$$ORIGIN/../../..' $(gtk_LIBS) -lm -o $@

$(call bin,$(example_SRC)): $(B)/%: $(B)/%.o $(B)/libninodes.so
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) $< -L$(B) -lninodes -Wl,-rpath,'$$ORIGIN/../..' -o $@
$(addsuffix -cxx,$(call bin,$(example_SRC))): $(B)/%-cxx: %.c $(B)/libninodes.so $(header_SRC)
	$(call say,CXX,$<)
	$(Q)$(CXX) -std=c++17 -D_GNU_SOURCE -Wall -Wextra -Wno-missing-field-initializers $(if $(WERROR),-Werror) $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(public) -x c++ $< \
		-x none $(LDFLAGS) -L$(B) -lninodes -Wl,-rpath,'$$ORIGIN/../..' -o $@

$(call bin,$(bench_SRC)): $(B)/%: $(B)/%.o $(B)/libninodes.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) $^ $(lib_LIBS) $(bench_LIBS) -o $@

# ---- tests ------------------------------------------------------------------------------------
tests: $(call bin,$(test_SRC) $(gui_test_SRC)) $(examples) $(fault_TOOLS)

# Builds on all processors where -j says nothing else.
all_CPUS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
# Installs what is missing first, then builds and runs everything in a sub-make (pkg-config must see the new packages).
check: deps-check
	$(Q)$(MAKE) $(all_CPUS) --no-print-directory check-all
check-all: all tests check-headers
	$(Q)tests/run.py $(B) $(filter-out $(call bin,$(long_SRC)),$(tests_ALL))
list-tests:
	$(Q)printf '%s\n' $(filter-out $(call bin,$(long_SRC)),$(tests_ALL))
# COUNT bugs planted one at a time, drawn by SEED: which of them do the tests notice? Hours.
COUNT ?= 100
SEED ?= 1
check-bugs: deps-check
	$(Q)tests/mutate.py $(B) --count $(COUNT) --seed $(SEED) --report $(B)/bugs.txt
# What they count lies in $(B)/figures; its table is shown at the end.
check-long: deps-long
	$(Q)$(MAKE) $(all_CPUS) --no-print-directory all tests check-headers
	$(Q)rm -rf $(figures_DIR) && mkdir -p $(figures_DIR)
	$(Q)NINODES_TEST_LONG=1 $(call counted,make check-long) tests/run.py $(B) \
		$(foreach t,$(call bin,$(slow_SRC)),$(filter $t,$(tests_ALL))) $(filter-out $(call bin,$(slow_SRC)),$(tests_ALL))
	$(Q)$(call counted,make check-tsan) $(MAKE) --no-print-directory check-tsan TIMES=3
	$(Q)$(call counted,make check-valgrind) $(MAKE) --no-print-directory check-valgrind
	$(Q)python3 tests/reliability.py $(figures_DIR)
figures_DIR := $(CURDIR)/$(B)/figures
counted = NINODES_FIGURES=$(figures_DIR) NINODES_TEST_TITLE='$(1)'
# N mixed jobs in one process. reliability: bench/results/RELIABILITY.md anew, of the last check-long, soak, coverage and
# check-bugs.
N ?= 3000
soak: $(B)/tests/fault/soak
	$(Q)mkdir -p $(figures_DIR)
	$(Q)NINODES_FIGURES=$(figures_DIR) NINODES_SOAK=$(N) $<
reliability:
	$(Q)mkdir -p $(figures_DIR)
	-$(Q)NOTE='$(NOTE)' python3 tests/reliability.py $(figures_DIR) > $(B)/RELIABILITY.md
	$(Q)cp $(B)/RELIABILITY.md bench/results/RELIABILITY.md
# The tests by what they are for; `check` has all of them. performance: what runs cost as counted before them, no clock
# in it. regression: outputs against stored references.
regression_SRC := $(golden_SRC) $(wildcard tests/e2e/*.c) tests/workflow/demo.c
check-unit: $(call bin,$(unit_SRC) $(fault_SRC))
check-performance: $(call bin,$(performance_SRC))
check-integration: all $(call bin,$(filter-out $(regression_SRC),$(workflow_SRC)))
check-regression: $(call bin,$(filter-out $(long_SRC),$(regression_SRC)))
check-unit check-performance check-regression:
	$(Q)tests/run.py $(B) $^
check-integration:
	$(Q)tests/run.py $(B) $(filter $(B)/tests/%,$^) $(filter-out $(long_SRC),$(script_SRC))
# What several threads do, under ThreadSanitizer, TIMES times each: rings and readers, the socket and its viewers, worker
# and queue, jobs that are paused and cancelled, reading ahead, the compiler's threads, tiles on several devices.
TIMES ?= 1
race_SRC := $(addprefix tests/,unit/event/ring.c unit/event/sensor.c unit/tile/devices.c unit/monitor/serve.c unit/monitor/control.c \
	unit/monitor/totals.c unit/run/worker.c unit/run/many_jobs.c unit/op/stream.c unit/op/pool.c unit/op/weight.c \
	unit/cl/queue.c unit/cl/cancel.c unit/cl/cache.c unit/cl/load.c workflow/attach.c workflow/cancel.c workflow/pause.c \
	workflow/results.c)
check-tsan: deps-check
	$(Q)$(MAKE) $(all_CPUS) --no-print-directory SANITIZE=thread GUI=0 check-races
# Units under valgrind: reads of what was never written, leaks; the socket's locks under helgrind.
valgrind_SRC := $(foreach d,base file text media workflow document tensor event,$(filter tests/unit/$d/%,$(unit_SRC)))
check-valgrind: deps-check
	$(call install_packages,valgrind)
	$(Q)$(MAKE) $(all_CPUS) --no-print-directory GUI=0 CL=0 check-memory
check-memory: $(call bin,$(valgrind_SRC) tests/unit/monitor/serve.c)
	$(Q)NINODES_TEST_LIMIT=3600 NINODES_TEST_UNDER='valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite --suppressions=tests/valgrind.supp' \
		tests/run.py $(B) $(call bin,$(valgrind_SRC))
	$(Q)NINODES_TEST_TITLE="$${NINODES_TEST_TITLE:+$$NINODES_TEST_TITLE, locks}" NINODES_TEST_UNDER='valgrind -q --tool=helgrind --error-exitcode=9 --suppressions=tests/valgrind.supp' tests/run.py $(B) $(B)/tests/unit/monitor/serve
check-races: $(call bin,$(filter $(race_SRC),$(test_SRC)))
	$(Q)tests/run.py $(B) $(foreach i,$(shell seq $(TIMES)),$^)
# A parser under an engine that looks for new ways through it, with ASan and UBSan: TIME seconds from the target's own
# seeds, what failed before, and what earlier runs have found (which stays in the build folder). An input that fails is
# named crash-*, timeout-* or oom-*: put into tests/data/fuzz/NAME it is tried by every `make check`.
TIME ?= 60
FUZZ_NAMES := $(notdir $(basename $(fuzz_SRC)))
fuzz_BUILD = CL=0 GUI=0 WERROR= SANITIZE=address,undefined
fuzz:
	$(if $(filter all $(FUZZ_NAMES),$(FUZZ)),,$(error FUZZ=NAME, of: all $(FUZZ_NAMES)))
	$(call install_packages,$(DEPS_core) $(DEPS_fuzz))
ifeq ($(ENGINE),afl)
	$(Q)$(MAKE) $(all_CPUS) --no-print-directory $(fuzz_BUILD) CC=afl-clang-fast B=$(B)-afl fuzz-run
else
	$(Q)$(MAKE) $(all_CPUS) --no-print-directory $(fuzz_BUILD),fuzzer-no-link CC='$(CLANG)' B=$(B)-fuzz fuzz-run
endif
fuzz-run: $(foreach f,$(if $(filter all,$(FUZZ)),$(FUZZ_NAMES),$(FUZZ)),$(B)/tests/fuzz/$f $(B)/engine/$f)
	$(Q)for f in $(notdir $^); do case " $$did " in *" $$f "*) continue;; esac; did="$$did $$f"; \
		bash tests/fuzz/engine.sh $(B) $$f $(TIME) '$(ENGINE)' || exit 1; done
# The part that sanitizer builds run: no scripts, no GUI. With PoCL alone: what other drivers leak is not ours to count.
pocl_ICD := $(wildcard /etc/OpenCL/vendors/pocl.icd)
one_driver := $(if $(SANITIZE),$(if $(pocl_ICD),OCL_ICD_VENDORS=$(pocl_ICD) ))
check-core: all tests
	$(Q)$(one_driver)tests/run.py $(B) $(filter-out $(call bin,$(long_SRC)),$(call bin,$(unit_SRC) $(fault_SRC) $(kernel_SRC) $(fuzz_SRC) $(workflow_SRC)))
# Which branches of the parsers the tests take, a line a file and a line a parser (tests/coverage.py). More allocations
# fail than in `make check`, which has no time for all.
coverage: deps-check
	$(call install_packages,$(DEPS_coverage))
	$(Q)$(MAKE) $(all_CPUS) --no-print-directory GUI=0 CL=0 COVERAGE=1 coverage-run
coverage_SRC := $(foreach d,base file text media workflow document monitor node serve oom,$(filter tests/unit/$d/%,$(unit_SRC))) \
	$(addprefix tests/unit/,run/worker.c run/queue_folder.c run/picture.c run/results.c sample/resume.c model/lora_quantised.c model/detect.c \
	model/llm_files.c model/merge.c op/raw.c op/weight.c) \
	$(addprefix tests/workflow/,api_files.c attach.c model_save.c ui_run.c ui_pairs.c load_image.c video_files.c text_nodes.c values.c lists.c switch.c) tests/fault/calls.c tests/fault/kill.c $(fuzz_SRC)
coverage-run: $(call bin,$(coverage_SRC))
	$(Q)find $(B) -name '*.gcda' -delete
	-$(Q)NINODES_TEST_LIMIT=1200 NINODES_TEST_SHORTAGES=20000 tests/run.py $(B) $^
	$(Q)gcovr -r . --object-directory $(B) --exclude-unreachable-branches --filter core/ --json $(B)/coverage.json $(B)
	$(Q)tests/coverage.py $(B)/coverage.json | tee $(B)/coverage.txt
check-headers: $(headers_OK)

# Every public header compiles alone, as C11 and as C++.
$(B)/headers/%.ok: core/include/%.h $(header_SRC)
	@mkdir -p $(@D)
	$(call say,HDR,$<)
	$(Q)echo '#include <$*.h>' | $(CC) -std=c11 -Werror -Wall -pedantic $(public) -fsyntax-only -x c -
	$(Q)if command -v $(CXX) >/dev/null; then echo '#include <$*.h>' | $(CXX) -Werror -Wall $(public) -fsyntax-only -x c++ -; fi
	$(Q)touch $@

# ---- speed ------------------------------------------------------------------------------------
$(B)/bench/kernels: bench_LIBS := -lopenblas -ldnnl
$(B)/bench/networks: bench_LIBS := -lopenblas
bench: deps-bench
	$(Q)$(MAKE) --no-print-directory bench-all
bench-all: $(call bin,$(bench_SRC))
	$(Q)for b in $^; do $$b || exit 1; done

# ---- style ------------------------------------------------------------------------------------
C_FILES = $(shell git ls-files '*.c' '*.h' 2>/dev/null || find . -name '*.[ch]' -not -path './build*')
CLANG_FORMAT ?= $(firstword $(shell command -v clang-format-14 clang-format))
CLANG_TIDY ?= $(firstword $(shell command -v clang-tidy-14 clang-tidy))
CLANG ?= $(firstword $(shell command -v clang-14 clang))
lint: deps-lint
	$(Q)$(MAKE) --no-print-directory lint-layers lint-text lint-kernels lint-static lint-abi lint-deps
# core/LAYERS: which room may include which, and how large rooms and files get.
lint-layers:
	$(Q)python3 tests/layers.py top
	$(Q)python3 tests/layers.py includes
	$(Q)python3 tests/layers.py sizes
lint-text:
	$(Q)$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)
	$(Q)! grep -nP '\t| +$$|\r' $(C_FILES) $(kernel_FILES)
	$(Q)! grep -nE '^(<{7}|>{7}) ' README.md $(wildcard data/*.md data/doc/*.md) # of a merge
	$(Q)! grep -nE '\b(strcpy|strcat|sprintf|gets|strtok|alloca)\(' $(C_FILES)
	$(Q)! grep -ln 'CL/cl.*\.h' $(wildcard core/*/*.[ch] core/*/*/*.[ch] cli/*.[ch] cli/*/*.[ch] gui/*.[ch] gui/*/*.[ch])
	$(Q)! grep -lnE '<(gtk|glib|gio)[a-z/-]*\.h>' $(wildcard core/*/*.[ch] core/*/*/*.[ch] cli/*.[ch] cli/*/*.[ch] cl/*.[ch] cl/*/*.[ch])
	$(Q)for f in $(C_FILES); do head -1 $$f | grep -q '^// ' || { echo "$$f: the first line must say what the file is for"; exit 1; }; done
# Every kernel file parses as OpenCL C 1.2 in the schedules that it is for and all storage types,
# without a driver (but those that another takes in several times); and what a schedule is lies in its folder, not in
# branches elsewhere.
lint-kernels:
	$(Q)for s in $(schedules); do dir=cl/$${s%%:*}; for k in $(filter-out %/common.cl,$(wildcard cl/kernels/*.cl)) $$dir/*.cl; do case $$k in */tile.cl|*/chunks.cl|*/rows.cl) continue;; esac; for f in 0 1; do \
		cat cl/kernels/common.cl $$k | $(CLANG) -x cl -cl-std=CL1.2 -Icl/kernels -I$$dir -D$${s#*:}=1 -DF16=$$f -Xclang -finclude-default-header \
		-fsyntax-only -Wall -Werror -Wno-unused-function - || { echo "$$k ($$s, F16=$$f)"; exit 1; }; done; done; done
	$(Q)! grep -nE 'is_cpu|SCHED_[A-Z]' $(wildcard cl/*.[ch])
lint-static: compile_commands.json
	$(Q)cppcheck -q -j$(shell nproc) --enable=warning,portability --error-exitcode=1 --inline-suppr --suppressions-list=.cppcheck $(addprefix -i ,$(sort cl/kernels $(kernel_FILES))) -Icore/include -I. core cl cli
	$(Q)printf '%s\n' $(core_SRC) $(cl_SRC) $(cli_SRC) | xargs -P$(shell nproc) -n1 $(CLANG_TIDY) -quiet -p . 2>/dev/null
# The library against the ABI that data/abi keeps: nothing gone, nothing moved, nothing grown but
# what carries its size (data/abi/growth). `make abi` keeps it anew, after additions or a new SOVERSION.
abi_DUMP := data/abi/libninodes.xml
lint-abi: $(B)/libninodes.so
	$(Q)sh tests/abi.sh $< $(abi_DUMP) libninodes.so.$(SOVERSION)
abi: $(B)/libninodes.so
	$(Q)abidw --exported-interfaces-only --headers-dir core/include/ninodes --drop-private-types --no-elf-needed --no-corpus-path --no-comp-dir-path --out-file $(abi_DUMP) $<
# Every library that is linked or loaded is of the list of packages above, and its licence is known. sbom: the same as a
# bill of materials, SPDX as JSON, in $(B)/ninodes.spdx.json.
lint-deps: all
	$(Q)python3 tests/deps.py check $(B) $(DEPS)
sbom: all
	$(Q)python3 tests/deps.py sbom $(B) $(DEPS) > $(B)/ninodes.spdx.json
	@echo $(B)/ninodes.spdx.json
docs:
	$(call install_packages,$(DEPS_docs))
	$(Q)mkdir -p $(B)/docs
	$(Q)(cat data/doc/Doxyfile; echo "OUTPUT_DIRECTORY = $(B)/docs"; echo "PROJECT_NUMBER = $(VERSION)") | doxygen -
	@echo "$(B)/docs/html/index.html"
format:
	$(CLANG_FORMAT) -i $(C_FILES)

# Written by make itself, so it needs no bear and no second build.
compile_commands.json: Makefile $(core_SRC) $(cl_SRC) $(cli_SRC) $(gui_SRC) $(test_SRC)
	$(call say,GEN,$@)
	$(Q){ sep='['; for f in $(core_SRC) $(cl_SRC) $(test_SRC) $(cli_SRC) $(gui_SRC) $(gui_test_SRC); do \
	  case $$f in core/media/glyphs.c) i='-I. $(public) $(font_CFLAGS)';; cli/*) i='$(public) -Icli';; cl/*/*) i="-I. $(public) -DSCHEDULE=$$(basename $${f%/*})";; gui/*) i='$(public) -Igui -I$(B)/gui $(if $(gui_SRC),$(gtk_CFLAGS))';; tests/gui/*) i='$(public) -Igui -I$(B)/gui -I. $(if $(gui_SRC),$(gtk_CFLAGS))';; *) i='-I. $(public)';; esac; \
	  printf '%s\n{"directory":"%s","file":"%s","command":"cc %s %s -c %s"}' "$$sep" '$(CURDIR)' "$$f" '$(subst \",\\\",$(BASE))' "$$i" "$$f"; sep=','; done; \
	  printf '\n]\n'; } > $@

# ---- first pictures ---------------------------------------------------------------------------
DEMO = --models data/demo/models --input data/demo/input
demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(B)/ninodes run data/workflows/text_to_image.json $(DEMO) --output out
	$(Q)$(B)/ninodes run data/workflows/text_to_video.json $(DEMO) --output out
	@echo "Made on this machine, by the kernels of this build, with models of its own. Another: $(B)/ninodes run data/workflows/text_to_image.json \\"
	@echo "  $(DEMO) --set 'Prompt.text=a small yellow star at the top on a purple background'"
	@echo "Watch runs live: $(B)/ninodes monitor (another terminal). Open the app: $(B)/ninodes-studio data/workflows/text_to_image.json $(DEMO)"

# The plans of models that are not here, from published shape lists.
plans: $(B)/bench/plans
	$(Q)$< >$(B)/plan-gfx1151.md && cp $(B)/plan-gfx1151.md bench/results/plan-gfx1151.md
	$(Q)$< --forecast yes >$(B)/forecast-gfx1151.md && cp $(B)/forecast-gfx1151.md bench/results/forecast-gfx1151.md

# What the main loops of products and attention reach on gfx1151, by the gate's clock model.
clocks: $(B)/tests/unit/run/real_programs
	$(Q)$< --print $(B)/gate-programs.txt
	$(Q)B=$(B) python3 tests/gate/gfx1151.py --programs $(B)/gate-programs.txt --write

# The tuning that is shipped for gfx1151, by the same costs.
tuned: $(B)/tests/unit/harness/tuned
	$(Q)$< --print $(B)/tuned.json && cp $(B)/tuned.json data/tune/gfx1151.json

code_DIR ?= $(B)/code
# The programs of real workflows as code objects for AMD's driver, a file for each kind of GPU: `make install` and `make deb`
# take them along where they are built.
code-objects: $(B)/tests/unit/run/real_programs $(B)/tests/unit/cl/code
	$(Q)rm -rf $(B)/code-sources && mkdir -p $(B)/code-sources
	$(Q)$(B)/tests/unit/run/real_programs --print $(B)/code-sources/gfx1151 >/dev/null
	$(Q)$(B)/tests/unit/run/real_programs --print $(B)/code-sources/generic generic-gpu >/dev/null
	$(Q)$(B)/tests/unit/cl/code --objects $(B)/code-sources $(B)/code-sources/gfx1151 $(B)/code-sources/generic
	$(Q)B=$(B) python3 tests/gate/code_objects.py $(B)/code-sources $(code_DIR)

# What the phases of optimisation give on this machine's device, up to 40 minutes; it has to be quiet.
phases: all
	$(Q)$(B)/ninodes bench suite --output $(B)/phases --report $(B)/PHASES.md && cp $(B)/PHASES.md bench/results/PHASES.md

# What less memory costs, predicted and measured on this machine's device, some minutes; it has to be quiet.
budgets: $(B)/bench/budgets
	$(Q)$< >$(B)/BUDGETS.md && cp $(B)/BUDGETS.md bench/results/BUDGETS.md

# What tiles of a VAE lose, measured on this machine's device.
tiles: $(B)/bench/tiles
	$(Q)$< >$(B)/tiles.md && cp $(B)/tiles.md bench/results/tiles.md

# Pictures of every view over real runs, in $(B)/shots; those of README and manual are put in their places.
shots: all tests
	$(Q)tests/gui/shots.sh $(B)/shots
	$(Q)mkdir -p $(B)/shots/layout && NINO_LAYOUT_SHOTS=$(CURDIR)/$(B)/shots/layout B=$(B) bash tests/gui/test_layout.sh
	$(Q)cp $(B)/shots/doc/views/*.png data/doc/views
	$(Q)cp $(B)/shots/doc/*.png data/desktop

# The texts that are marked in gui/ and the labels of counters, then the languages brought up to them: new ones come without
# a translation, those that are gone go.
pot:
	$(Q)xgettext --from-code=UTF-8 --package-name=ninodes --package-version=$(VERSION) --add-location=file --add-comments=translators: \
		-k_ -kN_ -kC_:1c,2 -kngettext:1,2 -kX:6 -kSAY:3 -kADD:3 -kISSUE:6 -kBAD_VALUE:1 -knino_tr:2 $(addprefix --flag=,_:1:pass-c-format g_strdup_printf:1:c-format \
		g_string_append_printf:2:c-format g_snprintf:3:c-format SAY:3:c-format ADD:3:c-format ISSUE:6:c-format BAD_VALUE:1:c-format \
		nino_tr:2:pass-c-format nino_fail_kind:5:c-format) -o - \
		$(sort $(wildcard gui/*.c gui/*/*.c gui/*/*.ui)) core/include/ninodes/counter.h core/event/statistics.c \
		$(sort $(wildcard core/monitor/advice/*.c core/workflow/graph_*.c)) core/workflow/ui_follow.c core/node/param.c core/base/file.c \
		core/run/services.c | sed '/^"POT-Creation-Date/d' > $(po_DIR)/ninodes.pot
	$(Q)for p in $(po_SRC); do msgmerge -q --no-fuzzy-matching --add-location=file $$p $(po_DIR)/ninodes.pot -o $$p.new && \
		msgattrib --no-obsolete --add-location=file $$p.new -o $$p && rm $$p.new; done

# The Python package: ctypes over the library, so it is one wheel for all machines.
.PHONY: wheel deb
wheel:
	$(Q)python3 data/python/backend.py $(B)/wheel

# Debian packages, built from a copy of the sources with data/deb as its debian/. The list of what it is built with is the one
# above, the list of the library's symbols that of data/abi. Whoever publishes packages names themselves as Debian's tools are
# told, by DEBFULLNAME and DEBEMAIL; the address is one that cannot be else, and nobody's.
deb_MAINTAINER = $(or $(DEBFULLNAME),The ninodes developers) <$(or $(DEBEMAIL),packages@ninodes.invalid)>
deb_DIR = $(B)/deb/ninodes-$(VERSION)
deb_DEPS := $(filter-out gcc libc6-dev pocl-opencl-icd ocl-icd-libopencl1,$(DEPS_core) $(DEPS_cli) $(DEPS_cl) $(DEPS_clblast) $(DEPS_gui))
deb:
	$(call install_packages,$(DEPS) $(DEPS_deb))
	$(Q)grep -q '^Package: libninodes$(SOVERSION)$$' data/deb/control || { echo "data/deb is for another soname than libninodes.so.$(SOVERSION)" >&2; exit 1; }
	$(Q)grep -q '^ninodes ($(VERSION)) ' data/deb/changelog || { echo "data/deb/changelog does not begin with version $(VERSION)" >&2; exit 1; }
	$(Q)rm -rf $(deb_DIR) && mkdir -p $(deb_DIR)
	$(Q){ git ls-files -z 2>/dev/null || find . -type f -not -path './build*' -not -path './out/*' -not -name config.mk -print0; } | xargs -0 cp --parents -t $(deb_DIR)
	$(Q)if [ -d $(code_DIR) ]; then cp -r $(code_DIR) $(deb_DIR)/code-objects; fi
	$(Q)cp -r data/deb $(deb_DIR)/debian && sed -i 's/@BUILD_DEPENDS@/$(foreach d,$(deb_DEPS),$d$(comma))/; s/,$$//' $(deb_DIR)/debian/control
	$(Q)sed -i 's|@MAINTAINER@|$(deb_MAINTAINER)|' $(deb_DIR)/debian/control $(deb_DIR)/debian/changelog
	$(Q){ echo 'libninodes.so.$(SOVERSION) libninodes$(SOVERSION) #MINVER#'; echo '* Build-Depends-Package: libninodes-dev'; echo ' NINODES_1@NINODES_1 $(VERSION)'; \
		sed -n "s/.*<elf-symbol name='\([^']*\)' version='\([^']*\)'.*/ \1@\2 $(VERSION)/p" $(abi_DUMP); } > $(deb_DIR)/debian/libninodes$(SOVERSION).symbols
	$(Q)cd $(deb_DIR) && dpkg-buildpackage -us -uc -b $(all_CPUS) >../build.log 2>&1 || { tail -40 ../build.log >&2; exit 1; }
	@ls $(B)/deb/*.deb

# Facts in the documents that the programs and the sources know; tests/cli/docs.sh fails when one is stale.
doc: $(B)/ninodes
	$(Q)$(B)/ninodes nodes --markdown > data/nodes.md
	$(Q)python3 tests/docs.py write $(B)

# Whoever compiles with the library: pkg-config ninodes. What is below the prefix moves with it (--define-prefix).
below = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
pc_LINES = 'prefix=$(PREFIX)' 'libdir=$(call below,$(LIBDIR))' 'includedir=$(call below,$(INCLUDEDIR))' '' 'Name: ninodes' \
	'Description: diffusion workflows on OpenCL, measured' 'Version: $(VERSION)' 'Libs: -L$${libdir} -lninodes' \
	'Libs.private: $(lib_LIBS) -pthread' 'Cflags: -I$${includedir}'

installed_LIST := $(DATADIR)/ninodes/installed
install: all
	$(Q)stage=$$(mktemp -d) && trap 'rm -rf "$$stage"' EXIT && $(MAKE) -s --no-print-directory stage STAGE="$$stage" && \
		sh data/install.sh put "$$stage" '$(DESTDIR)' '$(installed_LIST)'
uninstall:
	$(Q)sh data/install.sh remove '$(DESTDIR)' '$(installed_LIST)'
# All of it as it is to be, below the folder STAGE.
stage: all
	$(if $(STAGE),,$(error STAGE is missing))
	install -d $(STAGE)$(BINDIR) $(STAGE)$(LIBDIR)/pkgconfig $(STAGE)$(INCLUDEDIR)/ninodes $(STAGE)$(DATADIR)/ninodes/devices
	install -m 755 $(B)/ninodes $(if $(gui_SRC),$(B)/ninodes-studio) $(STAGE)$(BINDIR)
	install -m 755 $(B)/libninodes.so $(STAGE)$(LIBDIR)/libninodes.so.$(VERSION)
	ln -sf libninodes.so.$(VERSION) $(STAGE)$(LIBDIR)/libninodes.so.$(SOVERSION)
	ln -sf libninodes.so.$(SOVERSION) $(STAGE)$(LIBDIR)/libninodes.so
	install -m 644 $(B)/libninodes.a $(STAGE)$(LIBDIR)
	install -m 644 $(header_SRC) $(STAGE)$(INCLUDEDIR)/ninodes
	printf '%s\n' $(pc_LINES) > $(STAGE)$(LIBDIR)/pkgconfig/ninodes.pc
	install -m 644 $(wildcard data/devices/*.json) $(STAGE)$(DATADIR)/ninodes/devices
	install -D -m 644 -t $(STAGE)$(DATADIR)/ninodes/tune $(wildcard data/tune/*.json)
	$(if $(wildcard $(code_DIR)/*.bin),install -D -m 644 -t $(STAGE)$(DATADIR)/ninodes/code $(wildcard $(code_DIR)/*.bin))
	$(if $(gui_SRC),for d in applications metainfo mime/packages icons/hicolor/scalable/apps; do install -d $(STAGE)$(DATADIR)/$$d; done)
	$(if $(gui_SRC),install -m 644 data/desktop/org.ninodes.Studio.desktop $(STAGE)$(DATADIR)/applications)
	$(if $(gui_SRC),install -m 644 data/desktop/org.ninodes.Studio.metainfo.xml $(STAGE)$(DATADIR)/metainfo)
	$(if $(gui_SRC),install -m 644 data/desktop/org.ninodes.Studio.mime.xml $(STAGE)$(DATADIR)/mime/packages/org.ninodes.Studio.xml)
	$(if $(gui_SRC),install -m 644 data/desktop/org.ninodes.Studio.svg $(STAGE)$(DATADIR)/icons/hicolor/scalable/apps)
	$(if $(gui_SRC),install -D -m 644 -t $(STAGE)$(DATADIR)/man/man1 data/desktop/ninodes-studio.1)
	$(if $(gui_SRC),install -d $(STAGE)$(DATADIR)/thumbnailers && sed 's|@BINDIR@|$(BINDIR)|' data/desktop/ninodes.thumbnailer > $(STAGE)$(DATADIR)/thumbnailers/ninodes.thumbnailer)
	$(if $(gui_SRC),install -d $(STAGE)$(DATADIR)/dbus-1/services && sed 's|@BINDIR@|$(BINDIR)|' data/desktop/org.ninodes.Studio.service > $(STAGE)$(DATADIR)/dbus-1/services/org.ninodes.Studio.service)
	install -d $(STAGE)$(UNITDIR)
	for u in worker serve; do sed 's|@BINDIR@|$(BINDIR)|' data/systemd/ninodes-$$u.service > $(STAGE)$(UNITDIR)/ninodes-$$u.service; done
	$(foreach m,$(mo_OUT),install -D -m 644 $m $(STAGE)$(DATADIR)/$(patsubst $(B)/%,%,$m) &&) true
	install -d $(STAGE)$(DATADIR)/ninodes/workflows
	install -m 644 $(wildcard data/workflows/*.json data/workflows/seeds/*.json) $(STAGE)$(DATADIR)/ninodes/workflows
	install -D -m 644 -t $(STAGE)$(DATADIR)/ninodes/workflows/pictures $(wildcard data/workflows/pictures/*.png)
	install -D -t $(STAGE)$(DATADIR)/ninodes/examples $(wildcard data/examples/*.sh)
	cd data && find demo -type f -not -path 'demo/expected/*' -exec install -Dm 644 {} $(STAGE)$(DATADIR)/ninodes/{} \;
	install -D -m 644 -t $(STAGE)$(DATADIR)/ninodes/schema data/schema/lines.schema.json
	install -d $(STAGE)$(DATADIR)/doc/ninodes
	install -m 644 $(wildcard data/doc/*.md) data/nodes.md LICENSE $(STAGE)$(DATADIR)/doc/ninodes
	install -D -m 644 -t $(STAGE)$(DATADIR)/doc/ninodes/views $(wildcard data/doc/views/*.png)
	install -d $(addprefix $(STAGE)$(DATADIR)/,bash-completion/completions zsh/site-functions fish/vendor_completions.d man/man1)
	$(B)/ninodes completion bash > $(STAGE)$(DATADIR)/bash-completion/completions/ninodes
	$(B)/ninodes completion zsh > $(STAGE)$(DATADIR)/zsh/site-functions/_ninodes
	$(B)/ninodes completion fish > $(STAGE)$(DATADIR)/fish/vendor_completions.d/ninodes.fish
	$(B)/ninodes completion man > $(STAGE)$(DATADIR)/man/man1/ninodes.1
	for c in $$($(B)/ninodes --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'); do $(B)/ninodes completion man $$c > $(STAGE)$(DATADIR)/man/man1/ninodes-$$c.1 || exit 1; done

clean:
	rm -rf build build-* compile_commands.json out

-include $(shell find $(B) -path $(B)/deb -prune -o -name '*.d' -print 2>/dev/null)
