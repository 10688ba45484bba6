# The Python wheel (python/pyproject.toml, built with scikit-build-core): the shared library in sfumato/lib, which
# contains the libraries it needs, and the program in sfumato/bin, which uses it. A wheel holds no symbolic links, so
# the library has no version in its name.
set_property(TARGET sfumato_shared PROPERTY VERSION)
set_property(TARGET sfumato_shared PROPERTY SOVERSION)
target_link_options(sfumato_shared PRIVATE -Wl,--gc-sections)
set_target_properties(sfumato PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS sfumato_shared LIBRARY DESTINATION sfumato/lib COMPONENT wheel)
install(TARGETS sfumato RUNTIME DESTINATION sfumato/bin COMPONENT wheel)
install(DIRECTORY ${SFUMATO_LICENSES}/ DESTINATION sfumato/licenses COMPONENT wheel OPTIONAL)
